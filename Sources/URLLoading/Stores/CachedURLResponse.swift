public import Foundation
internal import UncurlClient
internal import UncurlHTTP1
internal import UncurlSemantics

/// A response with its content, as a cache keeps it. It never changes, so any thread may read it. The program that
/// makes one keeps the values in ``userInfo`` thread-safe.
open class CachedURLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private let kept: URLResponse
    private let content: Data
    private let notes: [AnyHashable: Any]?
    private let policy: URLCache.StoragePolicy
    /// What the rules of caching need. Nil until the response is in a cache, unless a session made it.
    let record: CacheRecord?

    init(
        response: URLResponse,
        data: Data,
        userInfo: [AnyHashable: Any]?,
        storagePolicy: URLCache.StoragePolicy,
        record: CacheRecord?
    ) {
        kept = response
        content = data
        notes = userInfo
        policy = storagePolicy
        self.record = record
    }

    /// Makes a response that a cache may write to disk, without notes.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the content.
    public init(response: URLResponse, data: Data) {
        kept = response
        content = data
        notes = nil
        policy = .allowed
        record = nil
    }

    /// - Parameters:
    ///   - response: the head.
    ///   - data: the content.
    ///   - userInfo: kept in memory as it is. A cache writes it to disk if it is made of strings, numbers, dates,
    ///     data, and arrays and string-keyed dictionaries of those; if not, the response stays off the disk.
    ///   - storagePolicy: whether a cache may write it to disk.
    public init(
        response: URLResponse,
        data: Data,
        userInfo: [AnyHashable: Any]? = nil,
        storagePolicy: URLCache.StoragePolicy
    ) {
        kept = response
        content = data
        notes = userInfo
        policy = storagePolicy
        record = nil
    }

    /// The head.
    open var response: URLResponse { kept }
    /// The content.
    open var data: Data { content }
    /// The notes of the program that stored it; nil for none.
    open var userInfo: [AnyHashable: Any]? { notes }
    /// Whether a cache may write it to disk.
    open var storagePolicy: URLCache.StoragePolicy { policy }

    /// Returns the same response with the record by which the rules of caching judge it later.
    func with(_ record: CacheRecord) -> CachedURLResponse {
        CachedURLResponse(
            response: response,
            data: data,
            userInfo: userInfo,
            storagePolicy: storagePolicy,
            record: record
        )
    }

    open override func copy() -> Any { self }
    /// Returns the same object: responses never change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares all but ``userInfo``: its values need not be comparable.
    open override func isEqual(_ value: Any?) -> Bool {
        guard let other = value as? CachedURLResponse else { return false }
        return other === self
            || (other.storagePolicy == storagePolicy && other.response == response && other.data == data)
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response)
        hasher.combine(data)
        hasher.combine(storagePolicy)
        return hasher.finalize()
    }

    // MARK: Archives

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archive; nil unless it is keyed and has a head and content.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding, let response = aDecoder.response("response"),
            let data = aDecoder.object(NSData.self, "data"),
            let policy = URLCache.StoragePolicy(rawValue: aDecoder.number("storagePolicy")?.uintValue ?? .max)
        else { return nil }
        (kept, content, self.policy, record) = (response, Data(referencing: data), policy, nil)
        notes = aDecoder.object(NSData.self, "userInfo").flatMap { CacheNote.decode(Data(referencing: $0)) }
    }

    /// Writes the response. ``userInfo`` is left out if it has values that no cache would write to disk. Writes nothing
    /// to a coder without keys.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encode(response, forKey: "response")
        aCoder.encode(NSData(data: data), forKey: "data")
        aCoder.encode(NSNumber(value: storagePolicy.rawValue), forKey: "storagePolicy")
        if let notes = CacheNote.encode(userInfo) { aCoder.encode(NSData(data: notes), forKey: "userInfo") }
    }
}

extension CachedURLResponse {
    /// The memory that it takes, in octets: an estimate that is never much too low.
    var cost: Int {
        let (fields, _) = (response as? HTTPURLResponse)?.fields.size ?? (0, 0)
        let (cost, isTooMuch) = data.count.addingReportingOverflow(512 + fields + 512 * (userInfo?.count ?? 0))
        return isTooMuch ? .max : cost
    }

    /// The response as loads know it; nil if it did not come by HTTP, or no cache has taken it yet.
    var answer: StoredAnswer? {
        guard let record, let response = response as? HTTPURLResponse else { return nil }
        let exchange = StoredExchange(status: response.statusCode, fields: response.fields.list, record: record)
        return StoredAnswer(exchange, self)
    }

    /// The response of an answer that was stored, as a server may have updated it since; nil for another store's.
    convenience init?(_ answer: StoredAnswer) {
        guard let kept = answer.kept as? CachedURLResponse, let response = kept.response as? HTTPURLResponse else {
            return nil
        }
        self.init(
            response: response.with(answer.exchange.fields),
            data: kept.data,
            userInfo: kept.userInfo,
            storagePolicy: answer.isStorable ? kept.storagePolicy : .notAllowed,
            record: answer.exchange.record
        )
    }
}

extension ResponseFields {
    /// Octets and number of the fields.
    fileprivate var size: (octets: Int, count: Int) {
        switch self {
        case .received(let fields): (fields.block.count, fields.count)
        case .given(let fields): (fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }, fields.count)
        }
    }

    /// The fields as a list. Values that no field can hold, in a response that a program has made, are left out.
    var list: HTTPFields {
        switch self {
        case .received(let fields): return fields
        case .given(let given):
            var fields = HTTPFields()
            for (name, value) in given.sorted(by: { $0.key < $1.key }) { try? fields.append(name, value) }
            return fields
        }
    }
}

/// How a session makes stored responses and updates them. Times are seconds since 1970.
extension CachedURLResponse {
    /// Makes a response that came from a server, with the fields that a cache may keep.
    ///
    /// - Parameter record: what the rules need of the request and its answer.
    convenience init(_ response: HTTPURLResponse, data: Data, _ storage: CacheStorage, _ record: CacheRecord) {
        let fields = response.fields.list
        let policy: URLCache.StoragePolicy =
            switch storage {
            case .none, .compare: .notAllowed
            case .inMemory: .allowedInMemoryOnly
            case .everywhere: .allowed
            }
        self.init(
            response: response.with(CacheStorage.kept(fields, received: record.received)),
            data: data,
            userInfo: nil,
            storagePolicy: policy,
            record: record
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
