"""The cells that finer boxes hide, for the reference readers of formats with boxes."""
import numpy as np


def covered(boxes, finer, ratio, number):
    """Returns 1 for each cell whose fine cells all belong to boxes of the next level, by marking each fine cell."""
    lower, upper = boxes[number]
    cells = upper - lower + 1
    fine = np.zeros(cells * ratio, bool)
    for low, high in finer:
        low, high = np.clip(low - lower * ratio, 0, fine.shape), np.clip(high + 1 - lower * ratio, 0, fine.shape)
        fine[low[0]:high[0], low[1]:high[1], low[2]:high[2]] = True
    whole = fine.reshape(cells[0], ratio[0], cells[1], ratio[1], cells[2], ratio[2]).all(axis=(1, 3, 5))
    return whole.transpose(2, 1, 0).ravel().astype(np.uint8)
