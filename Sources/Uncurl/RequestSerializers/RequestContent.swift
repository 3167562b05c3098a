internal import URLLoading

/// Handles requests with content of their own: their parameters go into the query, whatever the method.
extension RequestSerializer {
    /// - Parameters:
    ///   - contentType: what the program says of the content. It replaces the request's own field Content-Type.
    ///   - usual: the Content-Type of a request that has none.
    func serialize(
        query parameters: Parameters?,
        into request: URLRequest,
        _ contentType: String?,
        usual: String = "application/octet-stream"
    ) throws(UncurlError) -> URLRequest {
        guard FieldSyntax.isValue(contentType ?? "") else { throw .header(name: "Content-Type") }
        var made = try serialize(nil, into: request)
        made.httpBody = nil
        let type = contentType ?? request.value(forHTTPHeaderField: "Content-Type") ?? usual
        made.setValue(type, forHTTPHeaderField: "Content-Type")
        guard let parameters else { return made }
        var writer = http
        (writer.defaults, writer.placement) = (.none, .query)
        return try writer.serialize(parameters, into: made)
    }
}

extension RequestSerializer {
    /// Writes a form. The parameters become its first fields.
    func serialize(
        _ form: MultipartForm,
        leadBy parameters: Parameters?,
        into request: URLRequest
    ) throws(UncurlError) -> URLRequest {
        var made = try serialize(nil, into: request)
        made.httpBody = nil
        var fields: [(name: String, value: Data)] = []
        let rules = if case .encoded(let encoding) = http.query { encoding } else { QueryEncoding() }
        do throws(ParameterFailure) {
            fields = try parameters?.formParts(rules, stringEncoding: http.stringEncoding) ?? []
        } catch {
            throw .parameters(error)
        }
        do throws(MultipartFailure) {
            guard !fields.isEmpty else { return try form.request(from: made) }
            var whole = try MultipartForm(boundary: form.boundary)
            try whole.append(fields: fields)
            try whole.append(partsOf: form)
            return try whole.request(from: made)
        } catch {
            throw .multipart(error)
        }
    }
}

extension URLRequest {
    func compressed(_ compression: RequestCompression) throws(UncurlError) -> URLRequest {
        do throws(CompressionFailure) { return try compression.compress(self) } catch { throw .compression(error) }
    }
}

extension RequestSerializer {
    /// A copy without the fields and properties that this serializer gives every request, for a request that is
    /// complete except for its content. A serializer of the program's own is returned as it is.
    var withoutDefaults: any RequestSerializer {
        switch self {
        case var serializer as HTTPRequestSerializer:
            serializer.defaults = .none
            return serializer
        case var serializer as JSONRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        case var serializer as PropertyListRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        case var serializer as EncodableRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        default: return self
        }
    }
}
