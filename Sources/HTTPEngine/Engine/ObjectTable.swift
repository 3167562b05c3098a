/// Objects that live as long as they are in it.
struct ObjectTable<Object: AnyObject> {
    private var objects: [ObjectIdentifier: Object] = [:]

    var isEmpty: Bool { objects.isEmpty }
    var count: Int { objects.count }
    /// A copy, so that the objects may leave the table while it is walked.
    var all: [Object] { Array(objects.values) }

    mutating func insert(_ object: Object) { objects[ObjectIdentifier(object)] = object }
    mutating func remove(_ object: Object) { objects[ObjectIdentifier(object)] = nil }
}
