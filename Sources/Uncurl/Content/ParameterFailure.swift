public import URLLoading

/// Why parameters or header fields cannot be put into a request. Nothing has been sent.
public struct ParameterFailure: Error, Sendable {
    /// Why the parameters cannot be written.
    @frozen public enum Reason: Sendable {
        /// The parameters have no names. A query or a form needs names, which an array or a single value does not have.
        case notKeyed
        /// A number is infinite or not a number.
        case notFinite(path: String, Double)
        /// The format cannot express the value: a property list has no null, for example.
        case notExpressible(path: String, kind: String, format: String)
        /// The parameters are nested deeper than ``Parameters/maximumDepth``.
        case tooDeep(limit: Int)
        /// The text has characters that the chosen encoding does not have.
        case notInEncoding(String.Encoding)
        /// The name of a header field is no token (RFC 9110 §5.1).
        case headerName(String)
        /// The value of a header field has CR, LF, NUL or another control character (RFC 9110 §5.5).
        case headerValue(name: String)
        /// The user name has a colon, which Basic credentials cannot express (RFC 7617 §2).
        case colonInUserName
        /// The request has no URL, or its URL's query cannot be changed.
        case noURL
        /// `encode(to:)` of a value, an encoder, or a custom query or style threw.
        case thrown(any Error)
    }

    /// Why the parameters cannot be written.
    public let reason: Reason
    /// The request as far as it was made.
    public let request: URLRequest?

    /// A failure that carries its request, for a serializer of the program's own.
    public init(_ reason: Reason, request: URLRequest? = nil) {
        self.reason = reason
        self.request = request
    }

    /// Wraps what the program's own code throws in a failure of this type.
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

/// The failure as an `NSError` with AFNetworking's domain, code and key.
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
