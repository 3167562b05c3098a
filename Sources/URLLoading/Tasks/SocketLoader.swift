internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// Opens the WebSocket of a task: its handshake is a request, whose answer is a switch of protocols.
final class SocketLoader: RequestLoader {
    override func loadItself() {
        do throws(URLError) {
            let url = try attempt.beginSocket(engine)
            guard let storage = settings.cookieSubclass else { return exchange(url) }
            askForCookies(storage) { [self] in exchange(url) }
        } catch {
            end(error)
        }
    }

    /// An answer that switches no protocol refuses the WebSocket.
    override func accept(_ response: URLResponse) {
        task.expect(response)
        guard !course.isEnded else { return }
        end(WebSocketOpening.refusal(response, task.originalRequest?.url))
    }

    override func switchProtocols(to connection: UpgradedConnection) {
        guard let task = task as? URLSessionWebSocketTask, let opening = attempt.opening, let head = attempt.switching,
            let response = attempt.switched(task.currentRequest?.url ?? task.originalRequest?.url)
        else { return connection.close() }
        task.response = response
        do throws(URLError) {
            let agreement = try opening.agreement(head, task.originalRequest?.url)
            noteSwitch(response)
            let socket = WebSocketLoad(self, task.channel, on: engine.loop)
            load(from: .socket(socket))
            // The session's limit, 60 seconds by default, would end every WebSocket on which no message comes for a
            // minute.
            let limit = attempt.request.values.explicitTimeout.flatMap(RequestBuilder.duration)
            socket.begin(connection, agreement, silentFor: limit, delivery.callbacks)
            updateFlow()
        } catch {
            connection.close()
            end(error)
        }
    }

    /// Before the handshake is done there is no connection to close.
    override func cancel(_ way: TaskCancellation) {
        guard case .closing(let reason) = way, case .socket(let socket) = course.source else {
            return super.cancel(way)
        }
        socket.close(reason)
    }
}
