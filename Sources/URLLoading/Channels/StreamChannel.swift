internal import Foundation
internal import Synchronization
internal import UncurlReactor

/// Fulfils a stream task's wishes, on its session's loop.
protocol StreamWorker: AnyObject {
    func take(_ wish: StreamWish)
    /// Withdraws the wish of that number, whose caller no longer waits for it.
    func takeBack(_ number: UInt64)
}

/// Stands between the threads that use a stream task and the task's load. Before there is a load it keeps the wishes;
/// then it passes them on; after the load's end it refuses them. Any thread.
final class StreamChannel: Sendable {
    private typealias Ending = StreamWish.Ending

    private enum Way {
        /// The task has no session.
        case nowhere
        /// No load has begun. The wishes are in the order of the calls.
        case waiting([StreamWish])
        case open(LoopBound<any StreamWorker>)
        case ended(Ending)
    }

    private struct State {
        var way = Way.nowhere
        var queue: OperationQueue?
        /// The load's queue, once there is one: answers without the load come after those that it has given.
        var callbacks = CallbackQueue()
        var last: UInt64 = 0
        var isAtEnd = false
    }

    private enum Verdict {
        case kept
        case hand(LoopBound<any StreamWorker>)
        case over(Ending)
    }

    private let state = Mutex(State())

    /// Sets the queue on which handlers are called.
    func adopt(queue: OperationQueue) {
        state.withLock { state in
            guard case .nowhere = state.way else { return }
            (state.way, state.queue) = (.waiting([]), queue)
        }
    }

    // MARK: For the task

    /// Returns a number for a read that its caller may withdraw.
    func number() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func ask(_ wish: StreamWish) {
        let verdict = state.withLock { state -> Verdict in
            switch state.way {
            case .nowhere:
                return .over(Ending(error: ErrorTranslation.urlError(.unknown, nil, "the task belongs to no session")))
            case .open(let load): return .hand(load)
            case .ended(let ending): return .over(ending)
            case .waiting(var wishes):
                state.way = .nowhere
                wishes.append(wish)
                state.way = .waiting(wishes)
                return .kept
            }
        }
        switch verdict {
        case .kept: break
        case .over(let ending): answer(wish, ending)
        case .hand(let load):
            let error = ErrorTranslation.urlError(.cancelled, nil, "the session is gone")
            if !load.loop.post({ load.value.take(wish) }) { fail(wish, error) }
        }
    }

    func takeBack(_ number: UInt64) {
        let (found, load) = state.withLock { state -> (StreamWish?, LoopBound<any StreamWorker>?) in
            switch state.way {
            case .nowhere, .ended: return (nil, nil)
            case .open(let load): return (nil, load)
            case .waiting(var wishes):
                let index = wishes.firstIndex { wish in
                    if case .read(let reading) = wish { reading.number == number } else { false }
                }
                guard let index else { return (nil, nil) }
                let wish = wishes.remove(at: index)
                state.way = .waiting(wishes)
                return (wish, nil)
            }
        }
        if let found { fail(found, StreamChannel.takenBack) }
        load?.loop.post { load?.value.takeBack(number) }
    }

    static var takenBack: URLError {
        ErrorTranslation.urlError(.cancelled, nil, "the caller that waited for it was cancelled")
    }

    // MARK: For the load

    /// Passes wishes on to `load` from here on. Returns those that have waited, which come first.
    func open(_ load: LoopBound<any StreamWorker>, _ callbacks: CallbackQueue) -> [StreamWish] {
        state.withLock { state in
            guard case .waiting(let wishes) = state.way else { return [] }
            (state.way, state.callbacks) = (.open(load), callbacks)
            return wishes
        }
    }

    /// Notes that the load is over. The wishes that it could not fulfil wait for the task's end, which gives the
    /// reason.
    func giveBack(_ wishes: [StreamWish], isAtEnd: Bool) {
        state.withLock { state in
            guard case .open = state.way else { return }
            (state.way, state.isAtEnd) = (.waiting(wishes), isAtEnd)
        }
    }

    /// Notes that the task is over. Runs on the delegate queue; wishes that wait are answered at once.
    func end(_ failure: URLError?) {
        let (wishes, ending) = state.withLock { state -> ([StreamWish], Ending) in
            let error = failure ?? ErrorTranslation.urlError(.networkConnectionLost, nil, "the stream is closed")
            let ending = Ending(error: error, isAtEnd: failure == nil && state.isAtEnd)
            defer { state.way = .ended(ending) }
            if case .waiting(let wishes) = state.way { return (wishes, ending) }
            return ([], ending)
        }
        for wish in wishes { wish.answer(ending) { call, _ in call() } }
    }

    private func answer(_ wish: StreamWish, _ ending: Ending) {
        wish.answer(ending) { act, isAwaited in call(isAwaited: isAwaited, act) }
    }

    private func fail(_ wish: StreamWish, _ error: URLError) {
        answer(wish, Ending(error: error))
    }

    private func call(isAwaited: Bool, _ act: @escaping @Sendable () -> Void) {
        let (queue, callbacks) = state.withLock { ($0.queue, $0.callbacks) }
        guard !isAwaited, let queue else { return act() }
        callbacks.add(on: queue, act)
    }
}
