def check_game(g):
    pass
