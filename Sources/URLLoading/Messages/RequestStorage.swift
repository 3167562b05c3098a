/// The one object behind a ``URLRequest``. Copies of the request share it, and a copy that is changed makes its own
/// first: so an object that two copies share never changes, which is all that `@unchecked Sendable` claims. The caller
/// must keep the stream and the protocol properties in it to one thread.
final class RequestStorage: @unchecked Sendable {
    fileprivate(set) var values: RequestValues

    init(_ values: RequestValues) {
        self.values = values
    }
}

extension URLRequest {
    var values: RequestValues {
        _read { yield storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(storage.values) }
            yield &storage.values
        }
    }
}
