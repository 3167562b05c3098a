// XML, apart from the rest: it links libxml2, and only who imports it pays for that.
@_exported public import Uncurl
