"""Abstractions that grow while they are solved."""
