"""The data sets in a data object of VTK, with and without ParaView."""


def leaves(data):
    """Returns the data sets of a tree, or the data set itself."""
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    found, iterator = [], data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found
