import Foundation
import ScriptedPeer
import Uncurl
import UncurlTestServer

extension URLSessionConfiguration {
    /// No proxy of the environment, no cache or cookies of others, and a limit that ends a test that hangs.
    public static var isolated: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 30
        return configuration
    }
}

extension TestServer {
    /// A manager whose base is this server.
    public func manager(_ path: String = "/", center: NotificationCenter? = nil) -> HTTPSessionManager {
        let manager = HTTPSessionManager(baseURL: URL(string: url(path)), configuration: .isolated)
        manager.notificationCenter = center
        return manager
    }

    public func location(_ path: String) -> URL { URL(string: url(path))! }
}

extension RawServer {
    /// One connection that answers requests with these heads and contents, in order.
    public static func answering(_ answers: [String]) throws -> RawServer {
        try RawServer.start([
            RawScript(answers.flatMap { [RawStep.receive(.request), .send(Array($0.utf8))] } + [.finish])
        ])
    }

    public func manager(center: NotificationCenter? = nil) -> HTTPSessionManager {
        let manager = HTTPSessionManager(baseURL: URL(string: url("/")), configuration: .isolated)
        manager.notificationCenter = center
        return manager
    }
}
