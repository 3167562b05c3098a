public import URLLoading

/// A complete answer, as a serializer receives it.
public struct ReceivedResponse: Sendable {
    /// The request that was answered; after redirects, the last one.
    public var request: URLRequest?
    /// The head of the answer; nil where no head came.
    public var response: URLResponse?
    /// The content; empty for a download.
    public var data: Data
    /// The file of a download.
    public var fileURL: URL?

    /// An answer, for a program that calls a serializer itself.
    public init(request: URLRequest? = nil, response: URLResponse?, data: Data, fileURL: URL? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
    }

    /// The status; nil where the answer is not HTTP.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// Whether the answer has content.
    var hasContent: Bool {
        guard let fileURL else { return !data.isEmpty }
        let size = try? FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
        return size?.int64Value != 0
    }

    /// The encoding that the charset of the content type names; nil where there is no charset or its name is unknown.
    public var charset: String.Encoding? { response?.textEncodingName.flatMap(String.Encoding.init(charset:)) }

    /// The same, but a name that is unknown is an error.
    package func knownCharset() throws(SerializationFailure) -> String.Encoding? {
        guard let charset else {
            guard let name = response?.textEncodingName else { return nil }
            throw SerializationFailure(.charset(name), answer: self)
        }
        return charset
    }

    /// The content, from memory or from the file. A file is mapped: only the pages that are read come into memory. As
    /// with every mapping, the file must not be shortened while the content is in use. The file may be removed.
    public func content() throws(SerializationFailure) -> Data {
        guard let fileURL else { return data }
        // Foundation of Swift 6.3 leaks a page for each empty file that it reads.
        guard hasContent else { return Data() }
        do {
            // On Linux, `mappedIfSafe` reads the whole file.
            return try Data(contentsOf: fileURL, options: .alwaysMapped)
        } catch {
            throw SerializationFailure(.file, answer: self, underlying: error)
        }
    }
}

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
