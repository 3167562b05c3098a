internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// Opens the connection of a stream task, which has no request.
final class StreamTaskLoader: TaskLoader {
    override func load() {
        guard let task = task as? URLSessionStreamTask, let place = task.place else { return super.load() }
        do throws(URLError) {
            // A stream uses the proxy that https uses.
            if case .failure(let fault) = engine.proxies.route(for: .https, place.host) {
                throw ErrorTranslation.urlError(.cannotConnectToHost, nil, fault)
            }
            let stream = try StreamLoad(self, engine, task.channel, to: place.origin())
            load(from: .stream(stream))
            stream.begin()
        } catch {
            end(error)
        }
    }
}
