"""Import models of Hugging Face transformers and sentence-transformers."""
