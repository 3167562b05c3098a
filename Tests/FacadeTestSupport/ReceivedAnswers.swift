import Foundation
import Uncurl

/// Answers as serializers get them.
public func answer(
    _ body: Data,
    status: Int = 200,
    type: String? = nil,
    method: String = "GET",
    accept: String? = nil
) -> ReceivedResponse {
    let url = URL(string: "http://h/p")!
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.setValue(accept, forHTTPHeaderField: "Accept")
    let fields = type.map { ["Content-Type": $0] }
    let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
    return ReceivedResponse(request: request, response: response, data: body)
}

public func answer(
    _ body: String,
    status: Int = 200,
    type: String? = nil,
    method: String = "GET",
    accept: String? = nil
) -> ReceivedResponse {
    answer(Data(body.utf8), status: status, type: type, method: method, accept: accept)
}

/// The same as a download.
public func downloaded(_ answer: ReceivedResponse, in folder: TemporaryFolder) throws -> ReceivedResponse {
    let url = folder.url.appending(path: UUID().uuidString)
    try answer.data.write(to: url)
    return ReceivedResponse(request: answer.request, response: answer.response, data: Data(), fileURL: url)
}

/// A folder that goes with its last owner.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

extension SerializedResponse {
    public var serializationFailure: SerializationFailure? {
        if case .serialization(let failure)? = error { failure } else { nil }
    }

    public var validationFailure: ValidationFailure? {
        if case .validation(let failure)? = error { failure } else { nil }
    }
}
