public import URLLoading

/// Which answers may have no content although a value is made of it.
public struct EmptyContentRule: Sendable, Hashable {
    public var methods: Set<HTTPMethod>
    public var statusCodes: Set<Int>
    /// Whatever the method and the status.
    public var allowsAny: Bool

    public init(methods: Set<HTTPMethod> = [.head], statusCodes: Set<Int> = [204, 205], allowsAny: Bool = false) {
        self.methods = methods
        self.statusCodes = statusCodes
        self.allowsAny = allowsAny
    }

    /// Answers to HEAD and the statuses 204 and 205, which have none by definition.
    public static var whereThereIsNone: EmptyContentRule { EmptyContentRule() }
    public static var always: EmptyContentRule { EmptyContentRule(allowsAny: true) }

    public func allows(_ answer: ReceivedResponse) -> Bool {
        if allowsAny { return true }
        if let status = answer.status, statusCodes.contains(status) { return true }
        return methods.contains(HTTPMethod(rawValue: (answer.request?.httpMethod ?? "GET").uppercased()))
    }
}

/// What is done to content before it is read.
public struct ContentPreprocessor: Sendable {
    private let body: @Sendable (Data) throws -> Data

    public init(_ body: @escaping @Sendable (Data) throws -> Data) {
        self.body = body
    }

    public func callAsFunction(_ content: Data) throws -> Data { try body(content) }

    public static var passthrough: ContentPreprocessor { ContentPreprocessor { $0 } }

    /// Takes away the guard that keeps a JSON text from being run as a script: `)]}',` and the line's end behind it.
    public static var withoutScriptGuard: ContentPreprocessor {
        ContentPreprocessor { content in
            let guardText = Data(")]}',".utf8)
            guard content.starts(with: guardText) else { return content }
            let rest = content.dropFirst(guardText.count)
            return Data(rest.first == UInt8(ascii: "\n") ? rest.dropFirst() : rest)
        }
    }
}

/// Values that are there although nothing came.
public protocol EmptyValue {
    static var emptyValue: Self { get }
}

/// The value of an answer without content.
public struct EmptyResponse: EmptyValue, Codable, Hashable, Sendable {
    public init() {}
    public static var emptyValue: EmptyResponse { EmptyResponse() }
}

extension Optional: EmptyValue {
    public static var emptyValue: Wrapped? { nil }
}
