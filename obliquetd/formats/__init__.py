"""Models from files, and back."""

from obliquetd.formats.model import load_model, model_from_dict, model_to_dict, save_model

__all__ = ["load_model", "model_from_dict", "model_to_dict", "save_model"]
