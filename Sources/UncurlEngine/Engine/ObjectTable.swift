/// A table that keeps its objects alive.
struct ObjectTable<Object: AnyObject> {
    private var objects: [ObjectIdentifier: Object] = [:]

    var isEmpty: Bool { objects.isEmpty }
    var count: Int { objects.count }
    /// A copy, so that objects may leave the table during an iteration.
    var all: [Object] { Array(objects.values) }

    mutating func insert(_ object: Object) { objects[ObjectIdentifier(object)] = object }
    mutating func remove(_ object: Object) { objects[ObjectIdentifier(object)] = nil }
}
