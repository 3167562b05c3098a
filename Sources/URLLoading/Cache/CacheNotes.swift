internal import Foundation
internal import UncurlText

/// What a ``CachedURLResponse``'s `userInfo` may hold to be written to disk.
indirect enum CacheNotes: Codable, Hashable {
    case text(String)
    case truth(Bool)
    case whole(Int64)
    case real(Double)
    case data(Data)
    case date(Date)
    case list([CacheNotes])
    case table([String: CacheNotes])

    /// The deepest nesting. Deeper notes are refused, because they are read by recursion.
    private static let depthLimit = 32

    /// Nil for a value that cannot be written.
    init?(_ value: Any, depth: Int = 0) {
        guard depth < Self.depthLimit else { return nil }
        switch value {
        case let value as String: self = .text(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as [Any]:
            let members = value.compactMap { CacheNotes($0, depth: depth + 1) }
            guard members.count == value.count else { return nil }
            self = .list(members)
        case let value as [AnyHashable: Any]:
            var table: [String: CacheNotes] = [:]
            for (key, member) in value {
                guard let name = key.base as? String, !MarkRun.isTooLong(in: name),
                    let member = CacheNotes(member, depth: depth + 1)
                else { return nil }
                table[name] = member
            }
            self = .table(table)
        case let value as Bool: self = .truth(value)
        case let value as any BinaryInteger:
            guard let number = Int64(exactly: value) else { return nil }
            self = .whole(number)
        case let value as Double: self = .real(value)
        case let value as Float: self = .real(Double(value))
        default: return nil
        }
    }

    var value: Any {
        switch self {
        case .text(let value): value
        case .truth(let value): value
        case .whole(let value): Int(exactly: value) ?? value
        case .real(let value): value
        case .data(let value): value
        case .date(let value): value
        case .list(let members): members.map(\.value)
        case .table(let table): table.mapValues(\.value)
        }
    }

    static func encode(_ userInfo: [AnyHashable: Any]?) -> [UInt8]? {
        guard let userInfo else { return [] }
        guard let notes = CacheNotes(userInfo), let data = try? JSONEncoder().encode(notes) else { return nil }
        return Array(data)
    }

    static func decode(_ bytes: ArraySlice<UInt8>) -> [AnyHashable: Any]? {
        guard !bytes.isEmpty, (try? JSONReader.check(bytes.span)) != nil,
            case .table(let table)? = try? JSONDecoder().decode(CacheNotes.self, from: Data(bytes))
        else { return nil }
        return Dictionary(uniqueKeysWithValues: table.map { (AnyHashable($0), $1.value) })
    }
}
