internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import TLS

/// Stream tasks: how they begin, and how a data task becomes one.
extension TaskLoad {
    func beginStream() {
        guard let task = task as? URLSessionStreamTask, let place = task.place else { return }
        if isSuspended {
            phase = .starting(nil)
            return whenRunning { [self] in beginStream() }
        }
        do throws(URLError) {
            // Streams go as https does.
            if let fault = engine.settings.proxies.fault(for: .https, place.host) {
                throw ErrorTranslation.urlError(.cannotConnectToHost, nil, fault)
            }
            let stream = try StreamLoad(self, task.channel, to: place.origin())
            phase = .loading(.stream(stream))
            stream.begin()
        } catch {
            end(error)
        }
    }

    /// How a stream gets to its peer: as https does, through a tunnel, but without a word on HTTP.
    func streamOptions(securing: Bool) throws(TLSError) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(
            connect: RequestBuilder.duration(engine.settings.requestTimeout),
            poolWait: nil,
            responseHead: nil,
            idle: nil,
            total: nil
        )
        var proxies = engine.proxies
        proxies.http = proxies.https
        options.proxies = proxies
        if securing { options.tls = try engine.streamContext() }
        return options
    }

    /// The server has switched protocols for a task that is no WebSocket: the 101 is the answer, and the connection
    /// belongs to the stream task that the delegate may make of it.
    func switched(to connection: UpgradedConnection) {
        guard let head = switching, let url = request.url else { return connection.close() }
        let response = HTTPURLResponse(url: url, head: head)
        let stream = StreamLoad(self, on: connection)
        keepCookies(response)
        noteAuthorization(response)
        phase = .loading(.stream(stream))
        self.response = response
        let before = questions
        accept(response)
        // Who is not asked has no use for it.
        if questions == before { end(nil) }
    }

    func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, session, order)
        streamTask.channel.adopt(queue: session.delegateQueue)
        session.replace(dataTask, by: streamTask)
        tell(.response, afterCancel: true) { session, _, delegate in
            (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: dataTask, didBecome: streamTask)
        }
        callbacks.add(on: session.delegateQueue) { dataTask.retire(for: streamTask) }
        replaceTask(by: streamTask)
        storing = nil
        switch held {
        case .source(.stream(let stream)):
            phase = .loading(.stream(stream))
            stream.begin(streamTask.channel)
            updateFlow()
        case .source, .complete, .nothing:
            let stream = StreamLoad(self, of: streamTask.channel)
            sink = .stream(stream)
            stream.begin()
            goOn(held)
        }
    }
}

extension StreamPlace {
    /// In the clear at first; a proxy for https is asked for the tunnel all the same.
    func origin() throws(URLError) -> Origin {
        guard let number = UInt16(exactly: port), number > 0 else {
            throw ErrorTranslation.urlError(.badURL, nil, "there is no port \(port)")
        }
        do throws(EngineError) {
            return try Origin(scheme: .http, host: host, port: number)
        } catch {
            throw ErrorTranslation.error(error, nil)
        }
    }

    func isPlace(of other: Origin) -> Bool {
        guard let origin = try? origin() else { return false }
        return origin.host == other.host && origin.port == other.port
    }
}
