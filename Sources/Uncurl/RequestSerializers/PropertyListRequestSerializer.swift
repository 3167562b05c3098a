public import URLLoading

/// Writes parameters as a property list in the content. For methods without content they go into the query. Without
/// parameters there is no content and no content type.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// The formats that can be written. The old style can only be read.
    @frozen public enum Format: Sendable {
        /// XML text, or Apple's binary format.
        case xml, binary
    }

    /// The format of the content.
    public var format: Format
    /// Decides where parameters go and how a query is written, and has the defaults of all requests.
    public var http: HTTPRequestSerializer

    /// - Parameters:
    ///   - format: the format of the content.
    ///   - http: writes the queries of methods whose parameters go there, and has the default fields.
    public init(
        format: Format = .xml,
        http: HTTPRequestSerializer = HTTPRequestSerializer()
    ) {
        self.format = format
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        try http.serialize(parameters, into: request, contentType: "application/x-plist") {
            parameters throws(ParameterFailure) in
            let written: PropertyListSerialization.PropertyListFormat = format == .xml ? .xml : .binary
            let list = try Self.object(parameters, at: "", depth: 0)
            return try ParameterFailure.wrapping {
                try PropertyListSerialization.data(fromPropertyList: list, format: written, options: 0)
            }
        }
    }

    /// - Parameter path: the position of the value, for errors.
    private static func object(_ value: Parameters, at path: String, depth: Int) throws(ParameterFailure) -> Any {
        try Parameters.check(depth: depth)
        switch value {
        case .null: throw ParameterFailure(.notExpressible(path: path, kind: "null", format: "a property list"))
        case .bool(let value): return value
        case .integer(let value): return value
        case .unsigned(let value): return value
        case .double(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: path, value)) }
            return value
        case .decimal(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: path, .nan)) }
            return NSDecimalNumber(decimal: value).doubleValue
        case .string(let value): return value
        case .data(let value): return value
        case .date(let value):
            guard value.timeIntervalSince1970.isFinite else {
                throw ParameterFailure(.notFinite(path: path, value.timeIntervalSince1970))
            }
            return value
        case .array(let elements), .set(let elements):
            var objects: [Any] = []
            for (index, element) in elements.enumerated() {
                objects.append(try object(element, at: "\(path)[\(index)]", depth: depth + 1))
            }
            return objects
        case .keyed(let fields):
            var objects: [String: Any] = [:]
            for (name, value) in fields {
                objects[name] = try object(value, at: path.isEmpty ? name : "\(path).\(name)", depth: depth + 1)
            }
            return objects
        }
    }
}
