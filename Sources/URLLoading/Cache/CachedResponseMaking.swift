internal import Foundation
internal import UncurlHTTP1
internal import UncurlSemantics

/// How a session makes stored responses and updates them. Times are seconds since 1970.
extension CachedURLResponse {
    /// Makes a response that came from a server, with the fields that a cache may keep.
    ///
    /// - Parameters:
    ///   - request: the fields as they were sent, for comparison.
    ///   - requested: when the request went out.
    ///   - received: when the response's head came.
    ///   - vary: the rule that distinguishes the users of stored answers.
    convenience init(
        _ response: HTTPURLResponse,
        data: Data,
        storage: CacheStorage,
        request: HTTPFields,
        requested: Int64,
        received: Int64,
        vary: VaryRule
    ) {
        let fields = response.fields.list
        let policy: URLCache.StoragePolicy =
            switch storage {
            case .forbidden: .notAllowed
            case .inMemory: .allowedInMemoryOnly
            case .everywhere: .allowed
            }
        self.init(
            response: response.with(CacheStorage.kept(fields, received: received)),
            data: data,
            userInfo: nil,
            storagePolicy: policy,
            record: vary.record(of: request, varying: fields, requested: requested, received: received)
        )
    }

    /// Returns the same content with the fields as a 304 or a HEAD has updated them. The new fields also decide which
    /// requests it answers from now on, and whether it may still be stored.
    ///
    /// - Parameters:
    ///   - request: the fields of the request for the 304 or the HEAD, for comparison.
    ///   - vary: the rule that distinguishes the users of stored answers.
    func updated(_ exchange: StoredExchange, for request: HTTPFields, _ vary: VaryRule) -> CachedURLResponse {
        guard let response = response as? HTTPURLResponse else { return self }
        let fields = exchange.fields
        let permitted = CacheStorage.permitted(
            method: "GET",
            request: request,
            status: exchange.status,
            response: fields
        )
        let (requested, received) = (exchange.record.requested, exchange.record.received)
        return CachedURLResponse(
            response: response.with(fields),
            data: data,
            userInfo: userInfo,
            storagePolicy: permitted == .forbidden ? .notAllowed : storagePolicy,
            record: vary.record(of: request, varying: fields, requested: requested, received: received)
        )
    }

    /// Returns the response to deliver for a request that no server was asked about: with its age (RFC 9111 §4).
    func served(age: Int64) -> URLResponse {
        guard let response = response as? HTTPURLResponse else { return response }
        var fields = response.fields.list
        try? fields.replace("Age", String(age))
        return response.with(fields)
    }
}

extension HTTPURLResponse {
    /// Returns the same response with other fields. The values that describe the content stay, because the content is
    /// the stored one.
    fileprivate func with(_ fields: HTTPFields) -> HTTPURLResponse {
        var values = values
        values.http?.fields = .received(fields)
        return HTTPURLResponse(values: values, status: statusCode)
    }
}
