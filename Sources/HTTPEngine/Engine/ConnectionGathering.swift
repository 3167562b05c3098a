internal import HTTP1
internal import Reactor

/// When a connection lets the kernel gather what comes, and when it does not.
extension Connection {
    /// Some of a large response has been passed on.
    func gather(_ exchange: Exchange, _ reading: Reading) {
        let isWorth = (reading.parser.bodyRemaining ?? 0) >= UInt64(Gathering.amount) && exchange.throttle == nil
        switch reading.pace {
        case .usual, .fitful:
            break
        case .bulk:
            guard isWorth else { return }
            do throws(Errno) { try link.wake(for: Gathering.amount) } catch { return }
            reading.pace = .gathering(loop.arm(at: loop.now.advanced(byNanoseconds: Gathering.patience), self))
        case .gathering:
            if !isWorth { endGathering() }
        }
    }

    /// From here on every byte counts again.
    func endGathering(_ pace: ReadingPace = .bulk) {
        guard let reading, case .gathering(let timer) = reading.pace else { return }
        loop.cancel(timer)
        reading.pace = pace
        do throws(Errno) { try link.wake(for: 1) } catch { link.refused(error) }
    }

    /// Not sooner after the last bytes than patience wants it; they are not told to the timer one by one.
    func gatheringTimerFired(_ id: TimerID, _ exchange: Exchange) {
        guard let reading, reading.pace == .gathering(id) else { return }
        // What we do not read ourselves is no pause of the peer's.
        guard exchange.isReading else { return endGathering() }
        let limit = exchange.lastActivity.advanced(byNanoseconds: Gathering.patience)
        guard limit > loop.now else { return endGathering(.fitful) }
        reading.pace = .gathering(loop.arm(at: limit, self))
    }
}
