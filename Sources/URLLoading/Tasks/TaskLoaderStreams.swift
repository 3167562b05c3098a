internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import WebSocket

/// Stream tasks, and connections that stop speaking HTTP.
extension TaskLoader {
    func beginStream() {
        guard let task = task as? URLSessionStreamTask, let place = task.place else { return }
        guard !course.isSuspended else {
            course.start()
            return whenRunning { [self] in beginStream() }
        }
        do throws(URLError) {
            // Streams go as https does.
            if let fault = settings.proxies.fault(for: .https, place.host) {
                throw ErrorTranslation.urlError(.cannotConnectToHost, nil, fault)
            }
            let stream = try StreamLoad(self, task.channel, to: place.origin())
            course.load(from: .stream(stream))
            stream.begin()
        } catch {
            end(error)
        }
    }

    func beginSocket() {
        guard let url = attempt.request.url, let place = URLText.handshakePlace(of: url) else {
            return end(.unsupportedURL, attempt.request.url, "a WebSocket's URL begins with ws or wss")
        }
        guard attempt.request.values.httpMethod == "GET" else {
            return end(.unsupportedURL, url, "a WebSocket's handshake is a GET")
        }
        do throws(URLError) {
            attempt.opening = try WebSocketOpening(attempt.request)
        } catch {
            return end(error)
        }
        attempt.machine.beginUncached()
        attempt.request.url = place
        exchange(place)
    }

    /// Any other answer than a switch of protocols is the last one: kept in the task's response, and an error.
    func refuseSocket(_ response: URLResponse) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        end(.badServerResponse, socketURL, "the server answered \(status) and did not switch to WebSocket")
    }

    /// The server has switched protocols for a task that is no WebSocket: the 101 is the answer, and the connection
    /// belongs to the stream task that the delegate may make of it.
    func switched(to connection: UpgradedConnection) {
        guard let head = attempt.switching, let url = attempt.request.url else { return connection.close() }
        let response = HTTPURLResponse(url: url, head: head)
        noteSwitch(response)
        course.load(from: .stream(StreamLoad(self, on: connection)))
        attempt.response = response
        let before = course.questions
        accept(response)
        // A delegate that is not asked has no use for it.
        if course.questions == before { end(nil) }
    }

    func openSocket(_ connection: UpgradedConnection, _ task: URLSessionWebSocketTask) {
        guard let opening = attempt.opening, let head = attempt.switching,
            let url = task.currentRequest?.url ?? socketURL
        else { return connection.close() }
        let response = HTTPURLResponse(url: url, head: head)
        attempt.response = response
        task.response = response
        do throws(HandshakeError) {
            let agreement = try opening.handshake.check(head)
            noteSwitch(response)
            let socket = WebSocketLoad(self, task.channel)
            course.load(from: .socket(socket))
            socket.begin(connection, agreement)
            updateFlow()
        } catch {
            connection.close()
            end(ErrorTranslation.urlError(.badServerResponse, socketURL, error))
        }
    }

    /// Cookies and credentials of a 101, as of any answer.
    private func noteSwitch(_ response: HTTPURLResponse) {
        engine.keepCookies(of: response, for: attempt)
        guard let transaction = attempt.transaction else { return }
        let space = attempt.machine.switchProtocols(
            response.fields.list,
            authorized: transaction.authorized?.space,
            url: WebURL(transaction.url),
            memory: &engine.authorizations
        )
        if let space { store(for: space) }
    }
}
