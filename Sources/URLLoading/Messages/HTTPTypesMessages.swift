#if HTTPTypes
public import Foundation
internal import UncurlHTTP1
public import HTTPTypes

extension URLRequest {
    /// Makes a request from one of swift-http-types. It needs the package trait `HTTPTypes`.
    ///
    /// Fields with the same name become one field: values of Cookie are joined by "; ", all others by ", ". An extended
    /// CONNECT for WebSocket (RFC 8441) becomes a GET to a ws or wss URL.
    ///
    /// Nil if a value is not UTF-8, or if the request has no URL: it lacks a scheme, an authority or a path, it is a
    /// CONNECT or `OPTIONS *`, or its parts together would be the URL of another server or of another path.
    public init?(httpRequest: HTTPRequest) {
        let isSocket = httpRequest.method == .connect && httpRequest.extendedConnectProtocol == "websocket"
        guard let url = URL(of: httpRequest, forSocket: isSocket) else { return nil }
        var fields = UncurlHTTP1.HTTPFields()
        var order: [HTTPField.Name] = []
        var joined: [HTTPField.Name: String] = [:]
        for field in httpRequest.headerFields {
            let octets = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
            guard let value = String(validating: octets, as: UTF8.self) else { return nil }
            if let before = joined[field.name] {
                joined[field.name] = before + (field.name == .cookie ? "; " : ", ") + value
            } else {
                order.append(field.name)
                joined[field.name] = value
            }
        }
        for name in order {
            guard let value = joined[name] else { continue }
            do {
                try fields.append(name.rawName, value)
            } catch {
                return nil
            }
        }
        self.init(url: url)
        httpMethod = isSocket ? "GET" : httpRequest.method.rawValue
        values.replaceFields(order.isEmpty ? nil : fields)
    }

    /// The request as one of swift-http-types. A GET to a ws or wss URL becomes an extended CONNECT for WebSocket
    /// (RFC 8441). Nil if the method is not a token, or if there is no URL with a scheme.
    public var httpRequest: HTTPRequest? {
        guard let method = HTTPRequest.Method(values.httpMethod), let url = values.url, let scheme = url.scheme,
            URLComponents(url: url, resolvingAgainstBaseURL: true)?.string != nil,
            let fields = HTTPTypes.HTTPFields(values.fields ?? UncurlHTTP1.HTTPFields())
        else { return nil }
        var request = HTTPRequest(method: method, url: url, headerFields: fields)
        let secured = ["ws": "http", "wss": "https"][scheme.lowercased()]
        if method == .get, let secured {
            request.method = .connect
            request.scheme = secured
            request.extendedConnectProtocol = "websocket"
        }
        return request
    }
}

extension HTTPURLResponse {
    /// Makes a response from one of swift-http-types. Never nil. Fields with the same name become one field, joined by
    /// ", ". It needs the package trait `HTTPTypes`.
    ///
    /// - Parameters:
    ///   - httpResponse: the status and the fields; its reason phrase is not kept.
    ///   - url: the URL that the response is for.
    public convenience init?(httpResponse: HTTPResponse, url: URL) {
        let fields = Dictionary(httpResponse.headerFields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        self.init(
            url: url,
            statusCode: httpResponse.status.code,
            httpVersion: "HTTP/1.1",
            headerFields: Dictionary(fields.map { ($0.key.rawName, $0.value) }) { first, _ in first }
        )
    }

    /// The response as one of swift-http-types. A response from a server keeps each of its fields, in their order. Nil
    /// if the status is not within 0 to 999.
    public var httpResponse: HTTPResponse? {
        guard (0...999).contains(statusCode) else { return nil }
        switch fields {
        case .received(let received):
            return HTTPTypes.HTTPFields(received).map {
                HTTPResponse(status: HTTPResponse.Status(code: statusCode), headerFields: $0)
            }
        case .given(let given):
            var response = HTTPResponse(status: HTTPResponse.Status(code: statusCode))
            for (name, value) in given.sorted(by: { $0.key < $1.key }) {
                if let name = HTTPField.Name(name) { response.headerFields[name] = value }
            }
            return response
        }
    }
}

extension HTTPTypes.HTTPFields {
    /// Copies the fields, in their order. Nil if there are more than this type holds.
    fileprivate init?(_ fields: UncurlHTTP1.HTTPFields) {
        guard fields.count < UInt16.max else { return nil }
        self.init()
        for index in 0..<fields.count {
            guard let name = HTTPField.Name(fields.name(at: index)) else { continue }
            append(HTTPField(name: name, value: fields.block[fields.valueRange(at: index)]))
        }
    }
}

extension URL {
    /// Makes the URL of a request. Nil for an authority with a slash or a user, and for a path that does not begin with
    /// a slash: the URL would lead to another server or path than the request names (RFC 9113 §8.3.1).
    fileprivate init?(of request: HTTPRequest, forSocket isSocket: Bool) {
        guard let path = request.path, path.hasPrefix("/"), !path.contains("#"), let scheme = request.scheme,
            let authority = request.authority, !authority.isEmpty, !authority.contains(where: { "/?#@\\".contains($0) })
        else { return nil }
        guard request.method != .connect || request.extendedConnectProtocol != nil else { return nil }
        let secured = isSocket ? ["http": "ws", "https": "wss"][scheme.lowercased()] ?? scheme : scheme
        self.init(string: "\(secured)://\(authority)\(path)")
        guard !secured.isEmpty, self.scheme?.lowercased() == secured.lowercased() else { return nil }
    }
}
#endif
