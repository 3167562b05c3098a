internal import CUncurlLinux

/// A socket to the kernel's routing tables. It belongs to the network namespace of the thread that opened it, wherever
/// it is used later.
public struct NetlinkSocket: ~Copyable, Sendable {
    private let fd: OwnedFD
    /// The kernel's number for the socket; answers to it carry it.
    let port: UInt32

    /// Links, addresses and routes of both families (rtnetlink(7): RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE,
    /// RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE).
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    /// Opens the socket, subscribed to changes of links, addresses and routes.
    public init() throws(Errno) {
        fd = OwnedFD(taking: try callingOnce(.socket) { uncurl_netlink_open(NetlinkSocket.groups) })
        port = uncurl_netlink_port(fd.number)
    }

    /// Takes over a socket that ``release()`` gave away.
    public init(adopting number: CInt) {
        fd = OwnedFD(taking: number)
        port = uncurl_netlink_port(number)
    }

    /// Gives the descriptor away without closing it.
    public consuming func release() -> CInt { fd.release() }

    /// The descriptor, for a registration.
    var number: CInt { fd.number }

    func send(_ message: [UInt8]) throws(Errno) {
        _ = try retryingInterrupts(.send, on: number) {
            unsafe message.withUnsafeBytes { unsafe uncurl_netlink_send(number, $0.baseAddress, $0.count) }
        }
    }

    /// The result of one read.
    enum Receipt: Equatable {
        /// A datagram of that many bytes, in the buffer.
        case datagram(Int)
        /// More came than there was room for: something was lost.
        case overrun
        /// A message that is not from the kernel.
        case stray
        case wouldBlock
    }

    func receive(into buffer: inout [UInt8]) throws(Errno) -> Receipt {
        let capacity = buffer.count
        let count: Int?
        do throws(Errno) {
            count = try retryingInterruptsOrBlocking(.receive, on: number) {
                unsafe buffer.withUnsafeMutableBytes {
                    unsafe uncurl_netlink_receive(number, $0.baseAddress, capacity)
                }
            }
        } catch .noBufferSpace {
            return .overrun
        }
        guard let count else { return .wouldBlock }
        if count == 0 { return .stray }
        return count > capacity ? .overrun : .datagram(count)
    }
}
