internal import Foundation
internal import UncurlReactor
internal import UncurlSemantics

/// A stored response as a file: a ``StoreRecord`` that begins with the time.
struct CacheFile: Kept {
    /// In microseconds since 1970.
    let stored: Int64
    let key: CacheKey
    let entry: CachedURLResponse

    static func keep(_ file: CacheFile?, in record: inout StoreRecord) throws(Errno) -> CacheFile {
        let stored = try record.row(file?.stored)
        let key = CacheKey(method: try record.row(file?.key.method), url: try record.row(file?.key.url))
        let entry = CachedURLResponse(
            response: URLResponse.make(try record.row(file?.entry.response.values)),
            data: try record.row(file?.entry.data),
            userInfo: try record.row(optional: file?.entry.userInfo.map { CacheNote($0) })?.userInfo,
            storagePolicy: .allowed,
            record: try record.row(optional: file?.entry.record)
        )
        return CacheFile(stored: stored, key: key, entry: entry)
    }

    /// Nil if the response cannot be written: its notes are of types that a file cannot hold.
    static func encode(_ entry: CachedURLResponse, for key: CacheKey, stored: Date) -> [UInt8]? {
        let time = Int64(exactly: (stored.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
        return StoreRecord.file(.cacheEntry, of: CacheFile(stored: time, key: key, entry: entry))
    }

    /// Nil for an entry that is damaged, cut short, or another key's (two keys may share a name).
    static func decode(_ bytes: [UInt8], for key: CacheKey) -> CachedURLResponse? {
        guard let file = StoreRecord.value(of: bytes, .cacheEntry, as: Self.self), file.key == key else { return nil }
        return file.entry
    }

    /// How many first octets of a file say when it was stored.
    static let startLength = StoreRecord.headerLength + StoreRecord.numberLength

    /// Returns when a file was stored, from its first octets; nil if this library has not written it.
    static func stored(_ start: [UInt8]) -> Date? {
        guard var record = StoreRecord(start: start, .cacheEntry), let time = try? record.row(nil as Int64?) else {
            return nil
        }
        return Date(timeIntervalSince1970: Double(time) / 1_000_000)
    }
}

extension CacheRecord: Kept {
    static func keep(_ value: CacheRecord?, in record: inout StoreRecord) throws(Errno) -> CacheRecord {
        try record.rows(of: value, Self.init, \.varying, \.isForAnyone, \.requested, \.received)
    }
}

extension VaryingField: Kept {
    static func keep(_ field: VaryingField?, in record: inout StoreRecord) throws(Errno) -> VaryingField {
        try record.rows(of: field, Self.init, \.name, \.value, \.isSecret)
    }
}

/// A value of what a ``CachedURLResponse``'s `userInfo` may hold to be written to disk.
struct CacheNote: Kept {
    private let value: Any

    private init(value: Any) { self.value = value }

    init(_ userInfo: [AnyHashable: Any]) { value = userInfo }

    /// The notes; nil for a value that is no dictionary.
    var userInfo: [AnyHashable: Any]? {
        (value as? [String: Any]).map { table in
            Dictionary(uniqueKeysWithValues: table.map { (AnyHashable($0), $1) })
        }
    }

    static func keep(_ note: CacheNote?, in record: inout StoreRecord) throws(Errno) -> CacheNote {
        let value = note?.value
        let kept: Any
        switch try record.row(try value.map(kind)) {
        case 0: kept = try record.row(value as? String)
        case 1: kept = try record.row(value as? Data)
        case 2: kept = try record.row(value as? Date)
        case 3: kept = try record.row((value as? [Any])?.map { CacheNote(value: $0) }).map(\.value)
        case 4: kept = try record.row(try (value as? [AnyHashable: Any]).map(table)).mapValues(\.value)
        case 5: kept = try record.row(value as? Bool)
        case 6: kept = try record.row((value as? any BinaryInteger).flatMap { Int(exactly: $0) })
        case 7: kept = try record.row(value as? Double ?? (value as? Float).map { Double($0) })
        default: throw StoreFile.damage
        }
        return CacheNote(value: kept)
    }

    /// The number of a value's kind. Throws for one that cannot be written.
    private static func kind(_ value: Any) throws(Errno) -> Int {
        switch value {
        case is String: 0
        case is Data: 1
        case is Date: 2
        case is [Any]: 3
        case is [AnyHashable: Any]: 4
        case is Bool: 5
        case is any BinaryInteger: 6
        case is Double, is Float: 7
        default: throw StoreFile.damage
        }
    }

    private static func table(_ members: [AnyHashable: Any]) throws(Errno) -> [String: CacheNote] {
        var table: [String: CacheNote] = [:]
        for (key, member) in members {
            guard let name = key.base as? String else { throw StoreFile.damage }
            table[name] = CacheNote(value: member)
        }
        return table
    }
}

/// The notes in an archive of a ``CachedURLResponse``.
extension CacheNote {
    /// Nil for notes that cannot be written, and for none.
    static func encode(_ userInfo: [AnyHashable: Any]?) -> Data? {
        var record = StoreRecord()
        guard let userInfo, (try? record.row(CacheNote(userInfo))) != nil else { return nil }
        return Data(record.octets)
    }

    static func decode(_ octets: Data) -> [AnyHashable: Any]? {
        var record = StoreRecord(reading: Array(octets))
        return (try? record.row(nil as CacheNote?))?.userInfo
    }
}
