"""Train on the sample corpus and show the result."""


def add_arguments(p):
    pass


def run(o):
    pass
