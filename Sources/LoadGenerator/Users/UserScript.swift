import TextCoding

/// Decides what a virtual user does next. It is given the response to the user's last request, or nil at the beginning
/// of a visit.
///
/// It is called on the user's thread, always the same one, while the load runs: it must not block.
public typealias UserScript = (LoadResponse?) -> LoadStep

/// What a ``UserScript`` decides.
public enum LoadStep: Sendable {
    /// The next request, to be sent at once or after a pause.
    case request(LoadRequest, after: Duration = .zero)
    /// The visit is over. Without a rate the next begins at once; with one, when it is due.
    case done
}

/// A request of a script.
public struct LoadRequest: Hashable, Sendable {
    /// The method, such as `GET`: a token of RFC 9110 §5.6.2.
    public var method: String
    /// A path for the test's own host, or a whole URL.
    public var url: String
    /// Fields beside those that the test gives to every request. A field here replaces the test's of the same name.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { RequestDescription.Field(name: $0.name, value: $0.value) } }
    }
    /// The content; nil for none.
    public var body: [UInt8]?
    /// What the figures call it: one of ``LoadTest/names``, or nil.
    public var name: String?
    private var fields: [RequestDescription.Field]

    /// A request. A URL, method or field that cannot be sent is counted as a failed connection, and the visit pauses
    /// for 10 ms.
    public init(
        _ method: String = "GET",
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        name: String? = nil
    ) {
        (self.method, self.url, self.body, self.name) = (method, url, body, name)
        fields = headers.map { RequestDescription.Field(name: $0.name, value: $0.value) }
    }

    package var draft: RequestDraft {
        RequestDraft(
            method: method,
            url: url,
            headers: fields.map { "\($0.name): \($0.value)" },
            body: body,
            place: InputPlace(file: "", line: 0),
            name: name
        )
    }
}

/// The response to a script's request, or why there is none.
public struct LoadResponse: Sendable {
    /// The status code; 0 if no response came.
    public internal(set) var status = 0
    /// The response's fields in their order.
    public internal(set) var headers: [(name: String, value: String)] = []
    /// The content as it was sent, up to ``bodyLimit``.
    public internal(set) var body: [UInt8] = []
    /// The time from the first byte sent to the last byte received.
    public internal(set) var latency = Duration.zero
    /// Why there is no response; nil if there is one.
    public internal(set) var error: String?

    /// How much of a response's content is kept for a script: 1 MiB. A script reads tokens and links; a whole download
    /// would be held once for each user.
    public static let bodyLimit = 1 << 20

    /// The value at a place in the content, which is JSON (RFC 6901): `/items/0/id`. A text as it is, another value as
    /// JSON writes it; nil if there is none.
    public func json(_ pointer: String) -> String? {
        guard let pointer = JSONPointer(pointer), let document = try? JSONReader.read(body) else { return nil }
        let value = pointer.value(in: document)
        return value?.string ?? value?.line()
    }

    /// The value of the first field of that name, in upper or lower case; nil if there is none.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
