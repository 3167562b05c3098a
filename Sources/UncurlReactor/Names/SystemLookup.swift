internal import CUncurlLinux

/// Look-ups by `getaddrinfo`: hosts file, name servers, or whatever the machine is configured for. It blocks, for many
/// seconds if servers are dead, and cannot be cancelled: only for a thread of a ``BlockingPool``.
enum SystemLookup {
    static func addresses(_ host: String, _ family: IPAddress.Family) throws(ResolveError) -> [IPAddress] {
        var list: UnsafeMutablePointer<addrinfo>?
        var systemError: CInt = 0
        let domain =
            switch family {
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        let code = unsafe uncurl_getaddrinfo(host, domain, &list, &systemError)
        defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
        guard code == 0 else { throw error(code, Errno(code: systemError)) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            guard let form = unsafe entry.pointee.ai_addr else { continue }
            switch unsafe SocketAddress(kernelForm: form, length: entry.pointee.ai_addrlen) {
            case .v4(let address, _): addresses.append(.v4(address))
            case .v6(let address, _): addresses.append(.v6(address))
            case .unix, nil: continue
            }
        }
        guard !addresses.isEmpty else { throw .noAddress }
        return addresses
    }

    private static func error(_ code: CInt, _ system: Errno) -> ResolveError {
        switch code {
        case EAI_NONAME: .noSuchHost
        case EAI_AGAIN: .temporaryFailure
        case EAI_FAIL: .serverFailure
        case EAI_MEMORY: .system(.outOfMemory)
        case EAI_SYSTEM: .system(system)
        default: uncurl_is_no_address(code) != 0 ? .noAddress : .other(code: code)
        }
    }
}
