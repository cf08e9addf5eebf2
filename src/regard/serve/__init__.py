"""Serving: trained runs and indexes behind HTTP (the extra ``serve``)."""
