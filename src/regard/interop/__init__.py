"""Other people's formats: folders of transformers and sentence-transformers come in."""
