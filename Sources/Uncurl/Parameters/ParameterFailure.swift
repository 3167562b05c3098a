public import URLLoading

/// Parameters or header fields that cannot be put into a request. Nothing has been sent.
public struct ParameterFailure: Error, Sendable {
    /// Why the parameters cannot be written.
    @frozen public enum Reason: Sendable {
        /// Only parameters with names make a query or a form: an array or a single value has no key to stand behind.
        case notKeyed
        /// No number that the format can express.
        case notFinite(path: String, Double)
        /// The format has no such thing: a property list no null.
        case notExpressible(path: String, kind: String, format: String)
        /// Nested deeper than ``Parameters/maximumDepth``.
        case tooDeep(limit: Int)
        /// The text has characters that the chosen encoding lacks.
        case notInEncoding(String.Encoding)
        /// A header field whose name is no token (RFC 9110 §5.1).
        case headerName(String)
        /// A header field's value with CR, LF, NUL or another control character in it (RFC 9110 §5.5).
        case headerValue(name: String)
        /// A user name with a colon, which Basic credentials cannot carry (RFC 7617 §2).
        case colonInUserName
        /// The request has no URL, or one whose query cannot be changed.
        case noURL
        /// `encode(to:)` of a value, an encoder, or a custom query or style threw.
        case thrown(any Error)
    }

    /// Why the parameters cannot be written.
    public let reason: Reason
    /// The request that was being made, as far as it was.
    public let request: URLRequest?

    /// A failure that carries its request, for a serializer of the program's own.
    public init(_ reason: Reason, request: URLRequest? = nil) {
        self.reason = reason
        self.request = request
    }

    /// What the program's own code throws, as a failure of this type.
    static func wrapping<Value>(_ body: () throws -> Value) throws(ParameterFailure) -> Value {
        do {
            return try body()
        } catch let failure as ParameterFailure {
            throw failure
        } catch {
            throw ParameterFailure(.thrown(error))
        }
    }

    func about(_ request: URLRequest) -> ParameterFailure { ParameterFailure(reason, request: request) }
}

extension ParameterFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch reason {
        case .notKeyed: "parameters without names make neither a query nor a form"
        case .notFinite(let path, let number): "\(Self.place(path)) is \(number), for which there is no text"
        case .notExpressible(let path, let kind, let format):
            "\(Self.place(path)) is \(kind), which \(format) cannot express"
        case .tooDeep(let limit): "parameters are nested deeper than \(limit) levels"
        case .notInEncoding(let encoding): "the parameters have characters that \(encoding) lacks"
        case .headerName(let name): "\(name.debugDescription) is not a valid name of a header field"
        case .headerValue(let name): "the value of header field \(name) has control characters in it"
        case .colonInUserName: "a user name with a colon cannot be sent as Basic credentials"
        case .noURL: "the request has no URL that could carry a query"
        case .thrown(let error): "the parameters could not be encoded: \(error)"
        }
    }

    public var errorDescription: String? { description }

    private static func place(_ path: String) -> String { path.isEmpty ? "the parameter" : "parameter \(path)" }
}

/// For code that looks at `NSError`s: the domain, code and key that AFNetworking's have.
extension ParameterFailure: CustomNSError {
    public static var errorDomain: String { "com.alamofire.error.serialization.request" }

    /// `cannotDecodeContentData` (-1016).
    public var errorCode: Int { URLError.cannotDecodeContentData.rawValue }

    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description,
        ]
        if let request { info["com.alamofire.serialization.request.error.response"] = request }
        if case .thrown(let error) = reason { info[NSUnderlyingErrorKey] = error as NSError }
        return info
    }
}
