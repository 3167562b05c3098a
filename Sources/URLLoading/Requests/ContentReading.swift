package import Foundation
internal import UncurlEngine
internal import UncurlReactor

extension URLRequest {
    /// Reads the content to its end, and waits for it. For a loading class that needs all of it.
    ///
    /// - Throws: the error with which a request on the network fails if a file or a stream cannot be read, or gives
    ///   less or more than it has declared.
    package func readContent() throws(URLError) -> Data {
        do {
            return try content()
        } catch let error as EngineError {
            throw ErrorTranslation.error(error, url)
        } catch {
            throw ErrorTranslation.error(.bodySourceFailed(BodySourceError(error)), url)
        }
    }

    private func content() throws -> Data {
        switch values.body {
        case .none: Data()
        case .data(let data): data
        case .stream(let stream): try Data(reading: OneStream.reader(of: stream))
        case .parts(let parts): try parts.reduce(into: Data()) { $0.append(try Data(reading: $1)) }
        }
    }
}

extension Data {
    /// How many octets are read at a time.
    private static let piece = 64 << 10

    fileprivate init(reading part: Content) throws {
        switch part {
        case .none, .stream, .parts: self.init()
        case .bytes(let bytes): self.init(bytes)
        case .file(let file): try self.init(reading: file)
        case .threaded(let body): try self.init(reading: body.open())
        }
        if let declared = part.length, declared != count {
            throw EngineError.bodyLengthMismatch(declared: declared, given: UInt64(count))
        }
    }

    private init(reading file: FileBody) throws {
        self.init()
        let open = try file.open()
        while count < file.length {
            let left = Int(clamping: file.length) - count
            let bytes = try open.read(at: file.offset + UInt64(count), atMost: Swift.min(left, Self.piece))
            guard !bytes.isEmpty else { return }
            append(contentsOf: bytes)
        }
    }

    fileprivate init(reading reader: any BlockingReader) throws {
        self.init()
        defer { reader.close() }
        while true {
            let bytes = try reader.read(atMost: Self.piece)
            guard !bytes.isEmpty else { return }
            append(contentsOf: bytes)
        }
    }
}
