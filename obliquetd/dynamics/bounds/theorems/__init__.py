"""The theorems, one file a kind. Each file that lies here is read, and each bound in it is known."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
