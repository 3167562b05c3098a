internal import UncurlHTTP1
internal import UncurlReactor

/// Decides when a connection lets the kernel gather bytes, and when not.
extension Connection {
    /// Begins or ends the gathering. Called when a part of a large response has been delivered.
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

    /// Makes every byte wake the reader again.
    func endGathering(_ pace: ReadingPace = .bulk) {
        guard let reading, case .gathering(let timer) = reading.pace else { return }
        loop.cancel(timer)
        reading.pace = pace
        do throws(Errno) { try link.wake(for: 1) } catch { link.refused(error) }
    }

    /// Ends the gathering if no byte has come for ``Gathering/patience``; otherwise waits for the rest of that time:
    /// the timer is not moved with each byte.
    func gatheringTimerFired(_ id: TimerID, _ exchange: Exchange) {
        guard let reading, reading.pace == .gathering(id) else { return }
        // A pause of the reader is not a pause of the peer.
        guard exchange.isReading else { return endGathering() }
        let limit = exchange.lastActivity.advanced(byNanoseconds: Gathering.patience)
        guard limit > loop.now else { return endGathering(.fitful) }
        reading.pace = .gathering(loop.arm(at: limit, self))
    }
}
