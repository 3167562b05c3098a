internal import Dispatch
internal import Foundation
@_spi(SwiftCorelibsFoundation) package import FoundationEssentials
internal import Synchronization

/// Implements `Data(contentsOf:)` and `String(contentsOf:)` for URLs other than files. Foundation leaves that to a
/// library that can load them.
extension Data {
    /// Loads the URL, and blocks the calling thread. A status of 400 or more throws a `CocoaError`, such as
    /// `fileReadNoSuchFile` for 404.
    @_dynamicReplacement(for:init(_contentsOfRemote:options:))
    private init(_contentsOfRemoteByURLLoading url: URL, options: Data.ReadingOptions = []) throws {
        self = try URLSession.contents(of: url).data
    }
}

/// Loads that block their thread, for Foundation's initialisers that take any URL.
extension URLSession {
    private static let ofContents = URLSession(configuration: .default)

    /// - Returns: the content, and the encoding that its media type names.
    package static func contents(of url: URL) throws -> (data: Data, encoding: String?) {
        let result = Mutex<Result<(data: Data, encoding: String?), any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let task = ofContents.dataTask(with: url) { data, response, error in
            result.withLock { $0 = outcome(url, data, response, error) }
            done.signal()
        }
        task.resume()
        done.wait()
        guard let outcome = result.withLock({ $0 }) else { throw CocoaError(.fileReadUnknown) }
        return try outcome.get()
    }

    private static func outcome(
        _ url: URL,
        _ data: Data?,
        _ response: URLResponse?,
        _ error: (any Error)?
    ) -> Result<(data: Data, encoding: String?), any Error> {
        if let error { return .failure(error) }
        guard let status = (response as? HTTPURLResponse)?.statusCode, status >= 400 else {
            return .success((data ?? Data(), response?.textEncodingName))
        }
        let code: CocoaError.Code =
            switch status {
            case 404, 410: .fileReadNoSuchFile
            case 401, 403, 407: .fileReadNoPermission
            default: .fileReadUnknown
            }
        let cause = URLError(.badServerResponse, url, "the server answered \(status)")
        return .failure(CocoaError(code, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: cause]))
    }
}
