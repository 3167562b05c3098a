internal import Synchronization
public import Uncurl

/// Places that each show one value, the latest that was requested. An image view has one place, a button one for each
/// of its states.
///
/// - A place ignores a request that it is already loading.
/// - Another request cancels the one before, whose result is never shown.
/// - A cached value is shown at once, without the placeholder.
///
/// ```swift
/// let slots = LatestSlots<ControlState, ImageContent>(images)
/// slots.show(URLRequest(url: url), in: .normal, placeholder: nil) { content in … }
/// ```
///
/// Every member may be used on any thread. A cached value is shown before ``show(_:in:key:placeholder:apply:)``
/// returns, other content on the downloader's queue. A caller on that queue never sees an old result after its own
/// call.
public final class LatestSlots<Name: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a place shows.
    public enum Content: Sendable {
        /// A placeholder; nil shows nothing.
        case placeholder(Value?)
        /// A value with its response; the response is nil for a cached value.
        case value(Value, URLResponse?)
        /// The load failed. A load that another request has replaced reports nothing.
        case failed(any Error)
    }

    /// Shows content. Called on the downloader's queue, or at once for a cached value or a placeholder.
    public typealias Apply = @Sendable (Content) -> Void

    private typealias Loading = (number: UInt64, request: DownloadKey, receipt: Downloader<Value>.Receipt?)

    private let downloader: Downloader<Value>
    /// The last number is that of the last request.
    private let state = Mutex<(loading: [Name: Loading], last: UInt64)>(([:], 0))

    /// Places that load their values with this downloader.
    public init(_ downloader: Downloader<Value>) { self.downloader = downloader }

    deinit {
        for loading in state.withLock({ $0.loading.values }) { if let one = loading.receipt { downloader.cancel(one) } }
    }

    /// Shows the value of a request in a place.
    ///
    /// - Parameters:
    ///   - request: the request to load.
    ///   - name: the place.
    ///   - key: names the request; requests with one key are equal.
    ///   - placeholder: shown until the value has come.
    ///   - apply: shows content. It is not called after another request for this place.
    /// - Returns: false where the place is already loading this request. The earlier call continues with its own
    ///   closure.
    @discardableResult
    public func show(
        _ request: URLRequest,
        in name: Name,
        key: String? = nil,
        placeholder: Value? = nil,
        apply: @escaping Apply
    ) -> Bool {
        let begun = state.withLock { state -> (number: UInt64, old: Downloader<Value>.Receipt?)? in
            state.last += 1
            let identity = DownloadKey(request, given: key, fields: nil, number: state.last)
            if state.loading[name]?.request == identity { return nil }
            let old = state.loading.updateValue((state.last, identity, nil), forKey: name)
            return (state.last, old?.receipt)
        }
        guard let begun else { return false }
        if let old = begun.old { downloader.cancel(old) }
        if let value = downloader.cachedValue(for: request, key: key) {
            if take(name, begun.number) { apply(.value(value, nil)) }
            return true
        }
        // The end of the load before may have made the program show another request.
        guard state.withLock({ $0.loading[name]?.number == begun.number }) else { return true }
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
        // The load has ended already, or another request has replaced it.
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

    /// Ends the load with this number, if the place still waits for it.
    private func take(_ name: Name, _ number: UInt64) -> Bool {
        state.withLock { state in
            guard state.loading[name]?.number == number else { return false }
            state.loading[name] = nil
            return true
        }
    }
}

/// The name of a single place.
public enum OnlySlot: Hashable, Sendable { case only }

extension LatestSlots where Name == OnlySlot {
    /// Shows the value of a request in the single place. See ``show(_:in:key:placeholder:apply:)``.
    @discardableResult
    public func show(
        _ request: URLRequest,
        key: String? = nil,
        placeholder: Value? = nil,
        apply: @escaping Apply
    ) -> Bool {
        show(request, in: .only, key: key, placeholder: placeholder, apply: apply)
    }

    /// Cancels the load of the single place. The place keeps what it shows.
    public func cancel() { cancel(.only) }
}
