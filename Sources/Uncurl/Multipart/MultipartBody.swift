internal import Synchronization
public import URLLoading
internal import UncurlEngine

extension MultipartForm {
    /// The request with this form as its content, for any task of any session. The form's Content-Type replaces the
    /// request's, and the content length follows from the form.
    public func request(from request: URLRequest) throws(MultipartFailure) -> URLRequest {
        let method = request.httpMethod ?? "GET"
        guard method != "GET", method != "HEAD" else { throw .methodWithoutContent(method) }
        var request = request
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        let content = content
        guard Content.parts(content).isSendable else { throw .tooLong }
        request.parts = content
        return request
    }
}

extension URLRequest {
    /// Whether the content of this request can be sent again.
    var isReplayable: Bool { httpBodyStream == nil && parts?.allSatisfy(\.isReplayable) ?? true }
}

/// Reads a stream while it is sent. The stream must have its declared length. Errors name the stream's part.
final class MultipartStreamReader: BlockingReader {
    private let part: String
    private let declared: UInt64?
    private let reader: any BlockingReader
    private let given = Mutex<UInt64>(0)

    init(_ part: String, _ source: MultipartContent.StreamSource) throws {
        self.part = part
        declared = source.length
        do {
            reader = try source.open()
        } catch let error as ContentUsedUp {
            throw error
        } catch {
            throw MultipartFailure.streamUnopenable(part: part, reason: "\(error)")
        }
    }

    func read(atMost count: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try reader.read(atMost: count)
        } catch {
            throw MultipartFailure.streamFailed(part: part, reason: "\(error)")
        }
        let sum = given.withLock { given in
            given &+= UInt64(bytes.count)
            return given
        }
        guard let declared, bytes.isEmpty ? sum != declared : sum > declared else { return bytes }
        throw MultipartFailure.lengthMismatch(part: part, declared: declared, given: sum)
    }

    func close() { reader.close() }

    func interrupt() { reader.interrupt() }
}
