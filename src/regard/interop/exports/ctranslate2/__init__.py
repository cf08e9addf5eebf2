"""The target ``ctranslate2``: a folder for CTranslate2, fast inference on CPUs."""
