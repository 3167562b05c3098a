internal import Foundation
internal import UncurlSemantics

/// A stored response as a file:
///
///     seal (40) · when stored, µs since 1970 (8)
///     · length of the description (4) · length of the content (8) · description · content
///
/// A file that does not match its ``StoreSeal`` does not count as an entry.
enum CacheFile {
    /// Format 1 did not identify the user.
    static let seal = StoreSeal(kind: 0, format: 2)
    private static let headerLength = StoreSeal.length + 20

    /// Nil if the response cannot be written: its notes are of types that a file cannot hold.
    static func encode(_ entry: CachedURLResponse, for key: CacheKey, stored: Date) -> [UInt8]? {
        guard let notes = CacheNotes.encode(entry.userInfo) else { return nil }
        var description = OctetWriter()
        description.put(key.method)
        description.put(key.url)
        description.put(entry.response.values)
        description.put(notes)
        description.put(optional: entry.record) { write($1, to: &$0) }
        var rest = OctetWriter()
        rest.put(microseconds(stored))
        rest.put(UInt32(clamping: description.bytes.count))
        rest.put(Int64(entry.data.count))
        rest.append(description.bytes)
        rest.append(entry.data)
        return seal.closed(rest.bytes)
    }

    /// Nil for an entry that is damaged, cut short, or another key's (two keys may share a name).
    static func decode(_ bytes: [UInt8], for key: CacheKey) -> CachedURLResponse? {
        guard let sealed = seal.content(of: bytes) else { return nil }
        do throws(OctetReader.Malformed) {
            var reader = OctetReader(sealed)
            _ = try reader.number()
            let descriptionLength = Int(try reader.word())
            let contentLength = try reader.number()
            var description = OctetReader(try reader.octets(descriptionLength))
            guard let length = Int(exactly: contentLength) else { return nil }
            let content = try reader.octets(length)
            guard reader.isAtEnd, try description.text() == key.method, try description.text() == key.url else {
                return nil
            }
            let values = try description.response()
            let notes = CacheNotes.decode(try description.octets())
            let record = try description.optional { reader throws(OctetReader.Malformed) in
                try self.record(from: &reader)
            }
            return CachedURLResponse(
                response: URLResponse.make(values),
                data: Data(content),
                userInfo: notes,
                storagePolicy: .allowed,
                record: record
            )
        } catch {
            return nil
        }
    }

    /// Returns when a file was stored, from its first octets; nil if this library has not written it.
    static func stored(_ start: [UInt8]) -> Date? {
        guard start.count >= headerLength, let content = seal.uncheckedContent(of: start) else { return nil }
        var reader = OctetReader(content)
        return (try? reader.number()).map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    }

    static let startLength = headerLength

    private static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
    }

    private static func write(_ record: CacheRecord, to writer: inout OctetWriter) {
        writer.put(record.requested)
        writer.put(record.received)
        writer.put(record.isForAnyone)
        writer.put(UInt32(clamping: record.varying.count))
        for field in record.varying {
            writer.put(field.name)
            writer.put(field.value)
            writer.put(field.isSecret)
        }
    }

    private static func record(from reader: inout OctetReader) throws(OctetReader.Malformed) -> CacheRecord {
        var record = CacheRecord(varying: [], requested: try reader.number(), received: try reader.number())
        record.isForAnyone = try reader.flag()
        for _ in 0..<(try reader.word()) {
            let name = try reader.text()
            let value = try reader.optionalText()
            record.varying.append(VaryingField(name: name, value: value, isSecret: try reader.flag()))
        }
        return record
    }
}
