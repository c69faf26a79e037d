"""Models from files, and back."""

from obliquetd.formats.arrays import to_arrays
from obliquetd.formats.files import load_model, save_model
from obliquetd.formats.log import Log, read_log
from obliquetd.formats.log_confidence import ModelConfidence
from obliquetd.formats.model import model_from_dict, model_to_dict

__all__ = [
    "Log",
    "ModelConfidence",
    "load_model",
    "model_from_dict",
    "model_to_dict",
    "read_log",
    "save_model",
    "to_arrays",
]
