internal import Synchronization
public import Uncurl

/// Places that each show one value, the latest that was requested: an image view has one place, a button one for each
/// of its states.
///
/// - a place that loads a request ignores the same request;
/// - another request cancels the one before, whose result is never shown;
/// - a cached value is shown at once, without the placeholder.
///
/// ```swift
/// let slots = LatestSlots<ControlState, ImageContent>(images)
/// slots.show(URLRequest(url: url), in: .normal, placeholder: nil) { content in … }
/// ```
///
/// Any thread. What is shown at once is shown before ``show(_:in:key:placeholder:apply:)`` returns, the rest on the
/// downloader's queue. A caller on that queue never sees an old result after its own call.
public final class LatestSlots<Name: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a place shows.
    public enum Content: Sendable {
        /// Nil: nothing is to be shown.
        case placeholder(Value?)
        /// The response is nil for what the cache had.
        case value(Value, URLResponse?)
        /// The load failed. A load that another request replaced does not fail: it says nothing.
        case failed(any Error)
    }

    /// Shows the content, on the downloader's queue.
    public typealias Apply = @Sendable (Content) -> Void

    private struct Loading {
        let number: UInt64
        let request: DownloadKey
        var receipt: Downloader<Value>.Receipt?
    }

    private struct State {
        var loading: [Name: Loading] = [:]
        var last: UInt64 = 0
    }

    private let downloader: Downloader<Value>
    private let state = Mutex(State())

    /// Places whose values this downloader loads.
    public init(_ downloader: Downloader<Value>) { self.downloader = downloader }

    deinit {
        for loading in state.withLock({ $0.loading.values }) { if let one = loading.receipt { downloader.cancel(one) } }
    }

    /// Shows the value of a request in a place.
    ///
    /// - Parameters:
    ///   - request: what is loaded.
    ///   - name: the place.
    ///   - key: names the request; requests with one key are equal.
    ///   - placeholder: shown until the value is there.
    ///   - apply: shows content. It is not called any more once another request is made for this place.
    /// - Returns: false where the place is loading this request already: the earlier call goes on with its own closure.
    @discardableResult
    public func show(
        _ request: URLRequest,
        in name: Name,
        key: String? = nil,
        placeholder: Value? = nil,
        apply: @escaping Apply
    ) -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let identity = DownloadKey(request, given: key, fields: .all, number: number)
        let begun = state.withLock { state -> (number: UInt64, old: Downloader<Value>.Receipt?)? in
            if state.loading[name]?.request == identity { return nil }
            let old = state.loading.updateValue(Loading(number: number, request: identity), forKey: name)
            return (number, old?.receipt)
        }
        guard let begun else { return false }
        if let old = begun.old { downloader.cancel(old) }
        if let value = downloader.cachedValue(for: request, key: key) {
            if take(name, begun.number) { apply(.value(value, nil)) }
            return true
        }
        apply(.placeholder(placeholder))
        let receipt = downloader.download(request, key: key) { [weak self] result in
            guard let self, take(name, begun.number) else { return }
            switch result {
            case .success(let loaded): apply(.value(loaded.value, loaded.response))
            case .failure(let error): apply(.failed(error))
            }
        }
        let isCurrent = state.withLock { state in
            guard state.loading[name]?.number == begun.number else { return false }
            state.loading[name]?.receipt = receipt
            return true
        }
        // Ended already, or something else has been asked for meanwhile.
        if !isCurrent, let receipt { downloader.cancel(receipt) }
        return true
    }

    /// Cancels the load of a place. The place keeps what it shows.
    public func cancel(_ name: Name) {
        let old = state.withLock { $0.loading.removeValue(forKey: name) }
        if let receipt = old?.receipt { downloader.cancel(receipt) }
    }

    /// Whether a request for this place is under way.
    public func isLoading(_ name: Name) -> Bool { state.withLock { $0.loading[name] != nil } }

    /// Ends the load of that number, if the place still waits for it.
    private func take(_ name: Name, _ number: UInt64) -> Bool {
        state.withLock { state in
            guard state.loading[name]?.number == number else { return false }
            state.loading[name] = nil
            return true
        }
    }
}

/// The name of a place that is the only one.
public enum OnlySlot: Hashable, Sendable { case only }

extension LatestSlots where Name == OnlySlot {
    /// Shows the value of a request in the only place. See ``show(_:in:key:placeholder:apply:)``.
    @discardableResult
    public func show(
        _ request: URLRequest,
        key: String? = nil,
        placeholder: Value? = nil,
        apply: @escaping Apply
    ) -> Bool {
        show(request, in: .only, key: key, placeholder: placeholder, apply: apply)
    }

    /// Ends the load for the only place. The place keeps what it shows.
    public func cancel() { cancel(.only) }
}
