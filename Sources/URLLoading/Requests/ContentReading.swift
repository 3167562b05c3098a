package import Foundation
internal import UncurlEngine

extension URLRequest {
    /// Reads the content to its end, and waits for it. For a loading class that needs all of it.
    ///
    /// - Throws: the error with which a request on the network fails if a file or a stream cannot be read, or gives
    ///   less or more than it has declared.
    package func readContent() throws(URLError) -> Data {
        do {
            return try wholeContent()
        } catch let error as EngineError {
            throw ErrorTranslation.error(error, url)
        } catch {
            throw ErrorTranslation.error(.bodySourceFailed(BodySourceError(error)), url)
        }
    }

    private func wholeContent() throws -> Data {
        switch values.body {
        case .none: Data()
        case .data(let data): data
        case .stream(let stream): Data(try OneStream.reader(of: stream).readToEnd())
        case .content(let content): Data(try content.read())
        }
    }
}
