internal import Foundation
internal import HTTP1
internal import HTTPSemantics

/// Stored responses as a session makes them and brings them up to date. Times are seconds since 1970.
extension CachedURLResponse {
    /// What came from a server, with the fields a cache may keep.
    ///
    /// - Parameters:
    ///   - request: the fields as they were sent, for comparison.
    ///   - requested: when the request went out.
    ///   - received: when the response's head came.
    ///   - vary: how the users of stored answers are told apart.
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
            response: response.with(CacheStorage.kept(fields)),
            data: data,
            userInfo: nil,
            storagePolicy: policy,
            record: vary.record(of: request, varying: fields, requested: requested, received: received)
        )
    }

    /// The same content under the fields that a 304 or a HEAD has left.
    func updated(_ exchange: StoredExchange) -> CachedURLResponse {
        guard let response = response as? HTTPURLResponse else { return self }
        return CachedURLResponse(
            response: response.with(exchange.fields),
            data: data,
            userInfo: userInfo,
            storagePolicy: storagePolicy,
            record: exchange.record
        )
    }

    /// The response to be delivered for a request that no server was asked about: with its age (RFC 9111 §4).
    func served(age: Int64) -> URLResponse {
        guard let response = response as? HTTPURLResponse else { return response }
        var fields = response.fields.list
        try? fields.replace("Age", String(age))
        return response.with(fields)
    }
}

extension HTTPURLResponse {
    /// The same with other fields. What was said of the content stays: it is the stored content that is meant.
    fileprivate func with(_ fields: HTTPFields) -> HTTPURLResponse {
        var values = values
        values.http?.fields = .received(fields)
        return HTTPURLResponse(values: values, status: statusCode)
    }
}
