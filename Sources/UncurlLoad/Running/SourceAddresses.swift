package import UncurlReactor

/// The addresses that connections are opened from.
package enum SourceAddresses {
    /// Refuses addresses that this machine does not have: every connect from such an address would fail.
    package static func check(_ addresses: [SocketAddress]) throws(LoadTestError) {
        for address in addresses {
            do throws(Errno) {
                try Socket(address.family).bindLocal(address)
            } catch {
                let host =
                    switch address {
                    case .v4(let address, _): "\(address)"
                    case .v6(let address, _): "\(address)"
                    case .unix: "\(address)"
                    }
                throw .sourceAddress(host, reason: "\(error)")
            }
        }
    }
}
