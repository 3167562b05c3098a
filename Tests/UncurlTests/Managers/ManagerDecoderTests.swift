import FacadeTestSupport
import Foundation
import ScriptedPeer
import Testing
import Uncurl

@Suite("A manager's decoder", .timeLimit(.minutes(5)))
struct ManagerDecoderTests {
    private struct User: Decodable, Sendable { var firstName: String }

    private static let answer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{\"first_name\": \"Ada\"}"

    private static var snakes: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private let raw: RawServer
    private let manager: HTTPSessionManager
    private var request: URLRequest { URLRequest(url: URL(string: raw.url("/"))!) }

    init() throws {
        raw = try RawServer.start([], otherwise: .answering(Array(Self.answer.utf8)))
        manager = raw.manager()
        manager.decoder = Self.snakes
    }

    @Test("every method that returns a decodable value uses the manager's decoder")
    func everyWay() async throws {
        let wanted = HTTPRequest("x")
        let user = DecodableResponseSerializer(User.self)
        var names: [String?] = [
            try await manager.get("x", as: User.self).firstName,
            await manager.response(to: wanted, serializer: user).value?.firstName,
            await manager.response(to: wanted, serializer: user.map(\.firstName)).value,
            await manager.response(to: wanted, serializer: CompoundResponseSerializer([user])).value?.firstName,
            await manager.transfer(wanted, serializer: user).resumed.response.value?.firstName,
        ]
        names.append(
            await withCheckedContinuation { done in
                manager.dataTask(with: request, serializer: user) { done.resume(returning: $0.value?.firstName) }
                    .resume()
            }
        )
        let operation = HTTPRequestOperation(request: request, manager: manager, serializer: user)
        names.append(
            await withCheckedContinuation { done in
                operation.onCompletion { done.resume(returning: ($0.value as? User)?.firstName) }
                operation.start()
            }
        )
        manager.responseSerializer = user
        names.append((await manager.response(to: wanted).value as? User)?.firstName)
        #expect(names == Array(repeating: "Ada", count: 8))
    }

    @Test("a decoder that a manager gives out is its own: changes apply to it and to its copies alone")
    func givenOut() async throws {
        let (usual, other) = (raw.manager(), raw.manager())
        let copy = HTTPSessionManager(copying: usual)
        let decoder = try #require(usual.decoder as? JSONDecoder)
        #expect(decoder === usual.decoder as? JSONDecoder)
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for manager in [usual, copy] { #expect(try await manager.get("x", as: User.self).firstName == "Ada") }
        await #expect(throws: UncurlError.self) { try await other.get("x", as: User.self) }
    }

    @Test("a serializer's own decoder replaces the manager's, with its content types")
    func own() async {
        let own = DecodableResponseSerializer(User.self, decoder: JSONDecoder())
        let response = await manager.response(to: HTTPRequest("x"), serializer: own)
        guard case .serialization? = response.error else {
            Issue.record("\(response)")
            return
        }
        manager.decoder = PropertyListDecoder()
        let refused = await manager.response(to: HTTPRequest("x"), serializer: .decodable(User.self))
        guard case .validation? = refused.error else {
            Issue.record("\(refused)")
            return
        }
        let taken = await manager.response(
            to: HTTPRequest("x"),
            serializer: .decodable(User.self, decoder: Self.snakes)
        )
        #expect(taken.value?.firstName == "Ada")
    }
}

extension Transfer {
    fileprivate var resumed: Transfer {
        resume()
        return self
    }
}
