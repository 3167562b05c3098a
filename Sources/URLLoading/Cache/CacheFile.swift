internal import Foundation
internal import HTTP1
internal import TLS

/// A stored response as a file:
///
///     magic (8) · SHA-256 of all that follows (32) · when stored, µs since 1970 (8)
///     · length of the description (4) · length of the content (8) · description · content
///
/// The checksum stands for everything that can go wrong with a file after it was renamed into its place: a power failure,
/// a bad disk, another program. What does not match is no entry.
enum CacheFile {
    /// The last octet is the format's number: files of others are no entries. 1 did not say who had asked.
    private static let magic = Array("UNCURL\u{0}\u{2}".utf8)
    private static let headerLength = 60
    private static let checked = 40

    /// Nil if the response cannot be written: its notes are of other types than files have.
    static func encode(_ entry: CachedURLResponse, for key: CacheKey, stored: Date) -> [UInt8]? {
        guard let notes = CacheNotes.encode(entry.userInfo) else { return nil }
        var description = OctetWriter()
        description.put(key.method)
        description.put(key.url)
        write(entry.response.values, to: &description)
        description.put(notes)
        description.put(UInt8(entry.record == nil ? 0 : 1))
        if let record = entry.record { write(record, to: &description) }
        var rest = OctetWriter()
        rest.put(microseconds(stored))
        rest.put(UInt32(clamping: description.bytes.count))
        rest.put(Int64(entry.data.count))
        rest.append(description.bytes)
        rest.append(entry.data)
        guard let checksum = MessageDigest.sha256.hash(rest.bytes.span) else { return nil }
        return magic + checksum + rest.bytes
    }

    /// Nil for what is damaged, cut short, or another key's (two keys may share a name).
    static func decode(_ bytes: [UInt8], for key: CacheKey) -> CachedURLResponse? {
        guard bytes.count >= headerLength, bytes.starts(with: magic),
            MessageDigest.sha256.hash(bytes.span.extracting(droppingFirst: checked))
                == Array(bytes[magic.count..<checked])
        else { return nil }
        do throws(OctetReader.Malformed) {
            var reader = OctetReader(bytes[checked...])
            _ = try reader.number()
            let descriptionLength = Int(try reader.word())
            let contentLength = try reader.number()
            var description = OctetReader(try reader.octets(descriptionLength))
            guard let length = Int(exactly: contentLength) else { return nil }
            let content = try reader.octets(length)
            guard reader.isAtEnd, try description.text() == key.method, try description.text() == key.url else {
                return nil
            }
            let values = try values(from: &description)
            let notes = CacheNotes.decode(try description.octets())
            let record = try description.octet() == 0 ? nil : try self.record(from: &description)
            return CachedURLResponse(
                response: values.http.map { HTTPURLResponse(values: values, status: $0.status) }
                    ?? URLResponse(values: values),
                data: Data(content),
                userInfo: notes,
                storagePolicy: .allowed,
                record: record
            )
        } catch {
            return nil
        }
    }

    /// When a file was stored, by its first octets; nil if it is none of ours.
    static func stored(_ start: [UInt8]) -> Date? {
        guard start.count >= headerLength, start.starts(with: magic) else { return nil }
        var reader = OctetReader(start[checked...])
        return (try? reader.number()).map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    }

    static let startLength = headerLength

    private static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
    }

    // MARK: Responses

    private static func write(_ values: ResponseValues, to writer: inout OctetWriter) {
        writer.put(values.url?.absoluteString)
        writer.put(values.expectedContentLength)
        switch values.details {
        case .stated(let mimeType, let textEncodingName, let suggestedFilename):
            writer.put(UInt8(0))
            writer.put(mimeType)
            writer.put(textEncodingName)
            writer.put(suggestedFilename)
        case .derived:
            writer.put(UInt8(1))
        }
        writer.put(UInt8(values.http == nil ? 0 : 1))
        guard let http = values.http else { return }
        writer.put(Int64(http.status))
        write(http.fields, to: &writer)
    }

    private static func write(_ fields: ResponseFields, to writer: inout OctetWriter) {
        switch fields {
        case .received(let fields):
            writer.put(UInt8(0))
            writer.put(UInt32(clamping: fields.count))
            for index in 0..<fields.count {
                writer.put(fields.block[fields.nameRange(at: index)])
                writer.put(fields.block[fields.valueRange(at: index)])
            }
        case .given(let fields):
            writer.put(UInt8(1))
            writer.put(UInt32(clamping: fields.count))
            for (name, value) in fields {
                writer.put(name)
                writer.put(value)
            }
        }
    }

    private static func values(from reader: inout OctetReader) throws(OctetReader.Malformed) -> ResponseValues {
        let url = try reader.optionalText().flatMap { URL(string: $0) }
        let length = try reader.number()
        let details: ResponseValues.Details
        if try reader.octet() == 0 {
            let mimeType = try reader.optionalText()
            let textEncodingName = try reader.optionalText()
            details = .stated(
                mimeType: mimeType,
                textEncodingName: textEncodingName,
                suggestedFilename: try reader.text()
            )
        } else {
            details = .derived
        }
        var values = ResponseValues(url: url, expectedContentLength: length, details: details)
        guard try reader.octet() != 0 else { return values }
        guard let status = Int(exactly: try reader.number()) else { throw OctetReader.Malformed() }
        values.http = ResponseValues.HTTP(status: status, fields: try fields(from: &reader))
        return values
    }

    private static func fields(from reader: inout OctetReader) throws(OctetReader.Malformed) -> ResponseFields {
        let isReceived = try reader.octet() == 0
        let count = try reader.word()
        if isReceived {
            var fields = HTTPFields()
            for _ in 0..<count {
                let name = try reader.octets()
                let value = try reader.octets()
                do throws(HTTP1Error) { try fields.append(name: name.span, value: value.span) } catch {
                    throw OctetReader.Malformed()
                }
            }
            return .received(fields)
        }
        var fields: [String: String] = [:]
        for _ in 0..<count { fields[try reader.text()] = try reader.text() }
        return .given(fields)
    }

    private static func write(_ record: CacheRecord, to writer: inout OctetWriter) {
        writer.put(record.requested)
        writer.put(record.received)
        writer.put(UInt8(record.isForAnyone ? 1 : 0))
        writer.put(UInt32(clamping: record.varying.count))
        for field in record.varying {
            writer.put(field.name)
            writer.put(field.value)
            writer.put(UInt8(field.isSecret ? 1 : 0))
        }
    }

    private static func record(from reader: inout OctetReader) throws(OctetReader.Malformed) -> CacheRecord {
        var record = CacheRecord(varying: [], requested: try reader.number(), received: try reader.number())
        record.isForAnyone = try reader.octet() != 0
        for _ in 0..<(try reader.word()) {
            let name = try reader.text()
            let value = try reader.optionalText()
            record.varying.append(VaryingField(name: name, value: value, isSecret: try reader.octet() != 0))
        }
        return record
    }
}
