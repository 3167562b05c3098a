/// A virtual user's own mind: given the response to its last request, or nil at the beginning, it says what to do next. Called on the
/// user's thread, always the same one, in the middle of the load: it must not block.
public typealias UserScript = (LoadResponse?) -> LoadStep

/// What a ``UserScript`` decides.
public enum LoadStep: Sendable {
    /// To be sent, at once or after a pause.
    case request(LoadRequest, after: Duration = .zero)
    /// The visit is over. Without a rate the next begins at once; with one, when it is due.
    case done
}

/// A request of a script.
public struct LoadRequest: Hashable, Sendable {
    public var method: String
    /// A path for the test's own host, or a whole URL.
    public var url: String
    /// Beside those that the test gives every request, and before these where the names are the same.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { RequestDescription.Field(name: $0.name, value: $0.value) } }
    }
    public var body: [UInt8]?
    private var fields: [RequestDescription.Field]

    public init(
        _ method: String = "GET",
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil
    ) {
        (self.method, self.url, self.body) = (method, url, body)
        fields = headers.map { RequestDescription.Field(name: $0.name, value: $0.value) }
    }

    package var draft: RequestDraft {
        RequestDraft(
            method: method,
            url: url,
            headers: fields.map { "\($0.name): \($0.value)" },
            body: body,
            place: InputPlace(file: "", line: 0)
        )
    }
}

/// What came of a script's request.
public struct LoadResponse: Sendable {
    /// 0 if none came.
    public internal(set) var status = 0
    public internal(set) var headers: [(name: String, value: String)] = []
    /// The content as it was sent, up to ``bodyLimit``.
    public internal(set) var body: [UInt8] = []
    /// From the first byte sent to the last byte received.
    public internal(set) var latency = Duration.zero
    /// Why there is no response; nil if there is one.
    public internal(set) var error: String?

    /// A script reads tokens and links; whole downloads would be held once a user.
    public static let bodyLimit = 1 << 20

    /// The first field of that name, upper or lower case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
