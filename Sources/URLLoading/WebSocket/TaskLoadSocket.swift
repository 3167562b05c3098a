internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Synchronization
internal import WebSocket

/// A WebSocket's handshake, which is an exchange like another until the server switches protocols: redirected, challenged, with cookies.
extension TaskLoad {
    var isSocket: Bool { task is URLSessionWebSocketTask }

    /// As the user wrote it, for errors.
    var socketURL: URL? { task.originalRequest?.url }

    func beginSocket() {
        guard let url = request.url, let place = WebSocketOpening.place(of: url) else {
            let reason = "a WebSocket's URL begins with ws or wss"
            return end(ErrorTranslation.urlError(.unsupportedURL, request.url, reason))
        }
        guard request.values.httpMethod == "GET" else {
            return end(ErrorTranslation.urlError(.unsupportedURL, url, "a WebSocket's handshake is a GET"))
        }
        do throws(URLError) {
            opening = try WebSocketOpening(request)
        } catch {
            return end(error)
        }
        request.url = place
        exchange(place)
    }

    /// Any other answer than a switch of protocols is the last one: kept in the task's response, and an error.
    func refusedSocket(_ response: URLResponse) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let reason = "the server answered \(status) and did not switch to WebSocket"
        end(ErrorTranslation.urlError(.badServerResponse, socketURL, reason))
    }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        guard case .loading(.exchange(id)) = phase else { return connection.close() }
        guard let task = task as? URLSessionWebSocketTask else { return switched(to: connection) }
        guard let opening, let head = opening.answer, let url = task.currentRequest?.url ?? socketURL else {
            return connection.close()
        }
        let response = HTTPURLResponse(url: url, head: head)
        self.response = response
        task.response = response
        do throws(HandshakeError) {
            let agreement = try opening.handshake.check(head)
            keepCookies(response)
            noteAuthorization(response)
            let socket = WebSocketLoad(self, task.channel)
            phase = .loading(.socket(socket))
            tell(.socket) { session, _, delegate in
                (delegate as? any URLSessionWebSocketDelegate)?.urlSession(
                    session,
                    webSocketTask: task,
                    didOpenWithProtocol: agreement.subprotocol
                )
            }
            socket.begin(connection, agreement)
            updateFlow()
        } catch {
            connection.close()
            end(ErrorTranslation.urlError(.badServerResponse, socketURL, error))
        }
    }

    /// The server has closed.
    func tellClosed() {
        guard let task = task as? URLSessionWebSocketTask else { return }
        let (code, reason) = (task.closeCode, task.closeReason)
        tell(.socket) { session, _, delegate in
            (delegate as? any URLSessionWebSocketDelegate)?.urlSession(
                session,
                webSocketTask: task,
                didCloseWith: code,
                reason: reason
            )
        }
    }

    /// Before the handshake is done there is nobody to take leave of.
    func closeSocket(_ reason: CloseReason) {
        guard case .loading(.socket(let socket)) = phase else { return cancel() }
        socket.close(reason)
    }
}
