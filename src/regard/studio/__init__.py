"""The studio: runs compared, asked and explained in a browser (the extra ``studio``)."""
