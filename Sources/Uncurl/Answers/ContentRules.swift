public import URLLoading

/// Says which answers a serializer accepts without content.
public struct EmptyContentRule: Sendable, Hashable {
    /// Answers to these methods may have no content.
    public var methods: Set<HTTPMethod>
    /// Answers with these statuses may have no content.
    public var statusCodes: Set<Int>
    /// Whether every answer may have no content, whatever its method and status.
    public var allowsAny: Bool

    /// A rule for answers without content. By default, those that have none by definition: answers to HEAD, 204 (RFC
    /// 9110 §6.4.1) and 205 (§15.3.6).
    public init(methods: Set<HTTPMethod> = [.head], statusCodes: Set<Int> = [204, 205], allowsAny: Bool = false) {
        self.methods = methods
        self.statusCodes = statusCodes
        self.allowsAny = allowsAny
    }

    /// Answers to HEAD, and answers with the status 204 or 205: they have no content by definition.
    public static var whereThereIsNone: EmptyContentRule { EmptyContentRule() }
    /// Every answer may have no content.
    public static var always: EmptyContentRule { EmptyContentRule(allowsAny: true) }

    /// Whether this answer may have no content.
    public func allows(_ answer: ReceivedResponse) -> Bool {
        if allowsAny { return true }
        if let status = answer.status, statusCodes.contains(status) { return true }
        return methods.contains(HTTPMethod(rawValue: (answer.request?.httpMethod ?? "GET").uppercased()))
    }
}

/// Changes content before a serializer reads it.
public struct ContentPreprocessor: Sendable {
    private let body: @Sendable (Data) throws -> Data

    /// A preprocessor made of a closure. What it throws becomes a ``SerializationFailure``.
    public init(_ body: @escaping @Sendable (Data) throws -> Data) {
        self.body = body
    }

    /// Applies the closure.
    public func callAsFunction(_ content: Data) throws -> Data { try body(content) }

    /// The content as it came.
    public static var passthrough: ContentPreprocessor { ContentPreprocessor { $0 } }

    /// Removes the guard that keeps a JSON text from being run as a script: `)]}',` and the line end after it.
    public static var withoutScriptGuard: ContentPreprocessor {
        ContentPreprocessor { content in
            let guardText = Data(")]}',".utf8)
            guard content.starts(with: guardText) else { return content }
            let rest = content.dropFirst(guardText.count)
            return Data(rest.first == UInt8(ascii: "\n") ? rest.dropFirst() : rest)
        }
    }
}

/// A type with a value for answers without content.
public protocol EmptyValue {
    /// The value of an answer without content.
    static var emptyValue: Self { get }
}

/// The value of an answer without content, and of one whose content does not matter.
public struct EmptyResponse: EmptyValue, Codable, Hashable, Sendable {
    /// The value, which is the same for every answer.
    public init() {}
    public static var emptyValue: EmptyResponse { EmptyResponse() }
}

extension Optional: EmptyValue {
    public static var emptyValue: Wrapped? { nil }
}
