import Foundation
import Uncurl

/// The code of the documentation's articles, so that it is compiled. ``ArticleTests`` compares.
enum ArticleCode {
    struct User: Codable, Sendable { var name: String }
    struct Answer: Codable, Sendable {}

    static func overview() async throws -> User {
        let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1"))
        let user = try await manager.get("users/1", as: User.self)
        return user
    }

    static func parameters(_ manager: HTTPSessionManager) async throws -> User {
        manager.requestSerializer = .json
        let made = try await manager.post("users", parameters: ["name": "Ada", "tags": ["a", "b"]], as: User.self)
        return made
    }

    static func response(_ manager: HTTPSessionManager) async {
        let response = await manager.response(to: HTTPRequest("users/1"), serializer: .json)
        switch response.result {
        case .success(let document): print(document)
        case .failure(.validation(let failure)): print(failure.status ?? 0, response.rejectedValue ?? "")
        case .failure(let error): print(error)
        }
    }

    static func handler(_ manager: HTTPSessionManager) {
        let transfer = manager.start(HTTPRequest("users/1"), serializer: .decodable(User.self)) { response in
            print(response.value?.name ?? "nobody")
        }
        transfer.suspend()
        transfer.resume()
    }

    static func form(_ manager: HTTPSessionManager, _ photo: URL) async throws -> Answer {
        var form = MultipartForm()
        try form.append(.text("holiday"), name: "title")
        try form.append(.file(photo), name: "photo")
        let answer = try await manager.post("photos", form: form, as: Answer.self)
        return answer
    }

    static func bodies(_ manager: HTTPSessionManager, _ photo: URL) async {
        let put = HTTPRequest(.put, "files/1", body: .file(photo))
        let response = await manager.response(to: put, serializer: .data)
        print(response)
        let streamed = HTTPRequest(
            .post,
            "logs",
            body: .stream(contentType: "text/plain") { InputStream(data: Data("line\n".utf8)) }
        )
        print(streamed)
        var slow = HTTPRequest(.put, "files/1", body: .file(photo))
        slow.options.throttle = Throttle(upload: 100_000)
        slow.options.uploadProgress = { progress in print(progress.fraction ?? 0) }
    }

    static func downloads(_ manager: HTTPSessionManager, _ place: URL) async {
        let file = await manager.download(HTTPRequest("big.iso"), to: .file(place))
        if let data = file.resumeData {
            let rest = await manager.download(resuming: data, to: .file(place))
            print(rest.value ?? place)
        }
        manager.interceptors = [RetryPolicy(limit: 5)]
    }

    static func background(_ folder: URL) {
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.downloads")
        let background = HTTPSessionManager(configuration: configuration)
        background.hooks.didFinishDownloading = { _, task, _ in folder.appendingPathComponent("\(task.taskIdentifier).iso") }
        background.hooks.didComplete = { _, task, error in print(task.taskIdentifier, error ?? "done") }
    }

    static func pinning(_ manager: HTTPSessionManager) throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        print(pin)
        let policies = try HostPolicies(["api.example.com": SecurityPolicy(), "*.example.com": SecurityPolicy()])
        try manager.setSecurityPolicy(policies)
    }

    static func fromAFNetworking() {
        let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1"))
        manager.start(HTTPRequest("users", parameters: ["page": 2]), serializer: .json) { response in
            switch response.result {
            case .success(let users): print(users)
            case .failure(let error): print(error)
            }
        }
    }

    static func fromAlamofire(_ manager: HTTPSessionManager) async throws {
        var request = HTTPRequest("users/1")
        request.options.interceptors = [RetryPolicy()]
        request.options.redirects = .doNotFollow
        let response = await manager.response(to: request, serializer: .decodable(User.self))
        print(response.request?.cURL().description ?? "nothing was sent")
        let stream = try await manager.stream(HTTPRequest("ticks"))
        for try await line in stream.lines() { print(line) }
    }

    static func fromAsyncHTTPClient(_ manager: HTTPSessionManager) async -> Data {
        let data = await withTaskExecutorPreference(manager.session.taskExecutor) {
            await manager.response(to: HTTPRequest("users/1"), serializer: .data).data
        }
        return data
    }
}
